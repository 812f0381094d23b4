"""What the commands share on the terminal: messages, exit codes, silence of native code."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from chatbot.errors import Interrupted, UserError
from chatbot.storage import NO_ROOM
from chatbot.text.normalize import without_controls

EXIT_USER = 2
EXIT_INTERNAL = 70


def say(text: str) -> None:
    """Writes lines to stderr: stdout holds replies only. What a file's name or its content brings steers no terminal."""
    print(without_controls(text), file=sys.stderr, flush=True)


def lenient_stdout() -> TextIO:
    """stdout for replies and reports: a sign that its encoding has not is replaced, not a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return sys.stdout


def fail(message: str) -> None:
    """Writes an error: one line saying what, where, what to do."""
    say(f"error: {' '.join(message.split())}")


def guarded(command: Callable[[], int], verbose: bool = False) -> int:
    """Runs a command and turns whatever ends it into one line and an exit code; a traceback only if `verbose`."""
    try:
        return command()
    except UserError as error:
        fail(str(error))
        return EXIT_USER
    except Interrupted as stop:
        if str(stop):
            say(str(stop))
        return 128 + stop.signal_number
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone (`| head -1`): leave quietly, and keep Python from flushing at exit.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        hint = "make room and run the same command again" if error.errno in NO_ROOM else "check the path and its permissions"
        fail(f"{where}{error.strerror or error}; {hint}")
        return EXIT_USER
    except MemoryError:
        fail("out of memory; try a smaller --batch-size or a smaller --preset")
        return EXIT_USER
    except Exception as error:
        if verbose:
            traceback.print_exc()
        fail(f"internal: {type(error).__name__}: {error}; please report this, with the traceback that --verbose shows")
        return EXIT_INTERNAL


@contextmanager
def native_silence(verbose: bool = False) -> Iterator[None]:
    """Keeps what native code writes to descriptor 2 away from the user, unless the block fails or `verbose`.

    Our own messages go through a duplicate of the descriptor that is made before.
    """
    if verbose:
        yield
        return
    sys.stderr.flush()
    ours = os.dup(2)
    own_stderr = sys.stderr
    with (
        tempfile.TemporaryFile() as caught,
        os.fdopen(os.dup(ours), "w", encoding=own_stderr.encoding, errors="replace") as out,
    ):
        os.dup2(caught.fileno(), 2)
        sys.stderr = out
        try:
            yield
        except (UserError, Interrupted):
            raise
        except Exception:
            caught.seek(0)
            out.write(caught.read().decode("utf-8", "replace"))
            raise
        finally:
            out.flush()
            sys.stderr = own_stderr
            os.dup2(ours, 2)
            os.close(ours)
