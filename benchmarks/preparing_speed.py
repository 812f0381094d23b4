"""Preparing a corpus: sentences a second into morphemes, beside the loop over `Okt().morphs` that everybody writes.

Both are warm, in a Java of their own, and must find the same morphemes. The bound beside them is Java's splitting alone, on
all cores: no text goes from Python to Java, and no morpheme comes back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.turns import Contender, Figures
from benchmarks.workload import read_texts

Split = Callable[[Sequence[str]], list[Any]]


def timed(split: Split) -> Callable[[], Figures]:
    """A turn over the whole corpus."""
    corpus = read_texts()
    texts = list(dict.fromkeys([*corpus.questions, *corpus.answers]))
    found = split(texts)

    def turn() -> Figures:
        began = time.perf_counter()
        split(texts)
        return {"sentences/s": len(texts) / (time.perf_counter() - began), "morphemes": sum(map(len, found))}

    return turn


def ours() -> Callable[[], Figures]:
    """As train.py splits texts."""
    from chatbot.text.analyzer import OktAnalyzer

    return timed(OktAnalyzer().morphemes)


def konlpy_loop() -> Callable[[], Figures]:
    """A sentence at a time."""
    from chatbot.text.analyzer import start_jvm

    start_jvm()  # the same Java, started in the same way
    from konlpy.tag import Okt

    okt = Okt()
    return timed(lambda texts: [okt.morphs(text) for text in texts])


def java_alone() -> Callable[[], Figures]:
    """The corpus lies in Java, which splits it and throws the morphemes away."""
    from chatbot.text.analyzer import start_jvm

    start_jvm()
    from jpype import JArray, JClass
    from konlpy.tag import Okt

    tokenizer = Okt().jki
    string, flag = JClass("java.lang.String"), JClass("java.lang.Boolean")
    handles, proxies = JClass("java.lang.invoke.MethodHandles"), JClass("java.lang.invoke.MethodHandleProxies")
    method = tokenizer.getClass().getMethod("tokenize", string.class_, flag.class_, flag.class_)
    handle = handles.insertArguments(handles.publicLookup().unreflect(method).bindTo(tokenizer), 1, flag(False), flag(False))
    split = proxies.asInterfaceInstance(JClass("java.util.function.Function"), handle)
    counting = JClass("java.util.stream.Collectors").counting()
    corpus = read_texts()
    in_java = JArray(string)(list(dict.fromkeys([*corpus.questions, *corpus.answers])))

    def split_all() -> int:
        return int(JClass("java.util.Arrays").stream(in_java).parallel().map(split).collect(counting))

    split_all()

    def turn() -> Figures:
        began = time.perf_counter()
        return {"sentences/s": split_all() / (time.perf_counter() - began)}

    return turn


CONTENDERS: dict[str, tuple[Contender, dict[str, Any]]] = {
    "ours": (ours, {}),
    "loop over Okt().morphs": (konlpy_loop, {}),
    "Java alone": (java_alone, {}),
}
