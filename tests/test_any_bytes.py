"""Any bytes in, a line out: no traceback, no escape sequence, in bounded time and memory."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatbot.cli.repl import answer_lines, converse, read_lines
from chatbot.notices import Notice
from chatbot.responder import Reply, Responder
from chatbot.text.analyzer import CharacterAnalyzer, OktAnalyzer
from chatbot.text.normalize import normalize
from chatbot.text.pieces import rejoin
from chatbot.text.pipeline import TextPipeline, analyze
from chatbot.text.vocabulary import build_vocabulary
from tests.conftest import ROOT, TWENTY, Trained, run_program
from tests.fuzz import ESCAPES, any_lines, any_texts, is_plain

SECONDS_A_LINE = 5.0
"""Of the processor, so that a busy machine fails no test."""
VOCABULARY = build_vocabulary([], [list("▁안녕하세요")], 300)


class Column:
    """Stands for a tensor that comes back from a signature."""

    def __init__(self, values: list[object]) -> None:
        self._values = np.array(values, dtype=object)

    def numpy(self) -> np.ndarray:
        return self._values


class Poisoned:
    """A model that has learnt escape sequences, and says them whatever is asked."""

    def __init__(self) -> None:
        self.signatures = {"serving_default": self.serve, "explain": self.serve}

    def serve(self, morphemes: object) -> dict[str, Column]:
        count = len(np.asarray(morphemes))
        said = "".join(ESCAPES).encode() + b"\xff\xfe\n"
        rows = np.empty(count, dtype=object)
        rows[:] = [[said, b""]] * count
        numbers = Column([-1.0] * count)
        return {
            "reply": Column([said] * count),
            "reply_morphemes": Column(list(rows)),
            "log_probability": numbers,
            "confidence": numbers,
        }


class Stub:
    """Everything of a chat but TensorFlow: the pipeline prepares the question, and the reply is what it read."""

    def __init__(self) -> None:
        self.pipeline = TextPipeline(CharacterAnalyzer(), VOCABULARY, 64)
        self.slowest = 0.0

    def reply(self, text: str) -> Reply:
        begin = time.process_time()
        question = self.pipeline.questions([text])[0]
        assert len(question.pieces) <= 64
        self.slowest = max(self.slowest, time.process_time() - begin)
        return Reply(question.text, pieces=question.pieces, spelled=question.spelled)


class Lines(io.StringIO):
    """Takes what is written and checks it as it comes, so that 100,000 lines need no room."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def write(self, text: str) -> int:
        assert text.endswith("\n")
        assert text.count("\n") == 1
        assert is_plain(text), repr(text)
        text.encode()
        self.count += 1
        return len(text)


def pipe(lines: Iterable[bytes], answerer: Stub | Responder) -> int:
    """Sends lines through a pipe and returns how many come out."""
    output, stream = Lines(), io.BytesIO(b"".join(line + b"\n" for line in lines))
    answer_lines(read_lines(stream), answerer, output, lambda notice: None)
    return output.count


@pytest.mark.parametrize("count", [1_000, pytest.param(100_000, marks=pytest.mark.stress)])
def test_a_pipe_over_a_stub_stays_aligned(count: int) -> None:
    stub = Stub()
    assert pipe(any_lines(count), stub) == count
    assert stub.slowest < SECONDS_A_LINE


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=60).map(lambda line: line.replace(b"\n", b"")), max_size=8))
def test_any_list_of_lines(lines: list[bytes]) -> None:
    assert pipe(lines, Stub()) == len(lines)


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(), max_size=200))
def test_the_pieces_of_any_text_add_up_to_it(text: str) -> None:
    normal = normalize(text)
    assert rejoin(analyze([normal], CharacterAnalyzer())[0]) == normal
    assert is_plain(normal)


@pytest.mark.parametrize("count", [100, pytest.param(1_000, marks=pytest.mark.stress)])
def test_okt_takes_any_text(okt: OktAnalyzer, count: int) -> None:
    pipeline = TextPipeline(okt, VOCABULARY, 64)
    for text in any_texts(count, seed=1):
        begin = time.process_time()
        question = pipeline.questions([text])[0]
        assert time.process_time() - begin < SECONDS_A_LINE
        assert rejoin(analyze([question.text], okt)[0]) == question.text


TEN_MB = 10 * 1000 * 1000
LONG_LINES = {
    "letters": b"a",
    "syllables": "가".encode(),
    "marks out of order": "\u0301\u0323".encode(),
    "marks in one": "\u0f73".encode(),
    "no UTF-8": b"\xff\xfe\xfd",
    "NUL": b"\0",
    "bidi": "\u202e\u2066".encode(),
    "emoji": "👨\u200d👩".encode(),
    "jamo": "\u1100\u1161\u11a8".encode(),
    "blanks": b" ",
    "words": "가 ".encode(),
    "slashes": b"/",
}


@pytest.mark.parametrize("kind", ["marks out of order", *(pytest.param(kind, marks=pytest.mark.stress) for kind in LONG_LINES)])
def test_ten_megabytes_in_one_line(okt: OktAnalyzer, kind: str) -> None:
    line = LONG_LINES[kind] * (TEN_MB // len(LONG_LINES[kind]))
    pipeline = TextPipeline(okt, VOCABULARY, 64)
    begin = time.process_time()
    (text,) = read_lines(io.BytesIO(line + b"\n"))
    assert len(pipeline.questions([text])[0].pieces) <= 64
    assert time.process_time() - begin < SECONDS_A_LINE


@pytest.mark.stress
def test_a_hundred_thousand_short_lines() -> None:
    assert pipe([b"\xec\x95\x88"] * 100_000, Stub()) == 100_000


@pytest.mark.parametrize("count", [50, pytest.param(3_000, marks=pytest.mark.stress)])
def test_a_real_export_takes_any_bytes(loaded: Responder, count: int, record_property: Callable[[str, object], None]) -> None:
    slowest = 0.0
    for line in any_lines(count, seed=2):
        (text,) = read_lines(io.BytesIO(line + b"\n"))
        begin = time.process_time()
        reply = loaded.reply(text)
        slowest = max(slowest, time.process_time() - begin)
        assert is_plain(reply.text)
        assert "\n" not in reply.text
        assert bool(reply.text) == bool(reply.pieces)
    record_property("slowest", slowest)
    assert slowest < SECONDS_A_LINE
    assert loaded.reply(TWENTY[0][0]).text == TWENTY[0][1]


@pytest.mark.stress
def test_the_real_chat_takes_ten_megabytes_and_a_binary_file(twenty: Trained) -> None:
    lines = ["가".encode() * (TEN_MB // 3), Path(sys.executable).read_bytes()[:100_000].replace(b"\n", b""), "안녕".encode()]
    done = run_program(ROOT / "chat.py", twenty.run, stdin=b"".join(line + b"\n" for line in lines))
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.count(b"\n") == len(lines)
    assert done.stdout.endswith(f"\n{TWENTY[0][1]}\n".encode())
    assert is_plain(done.stdout.decode() + done.stderr.decode())


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.stress
def test_memory_is_flat_over_ten_thousand_answers(loaded: Responder, record_property: Callable[[str, object], None]) -> None:
    def ask(texts: Iterator[str]) -> None:
        for text in texts:
            loaded.replies([text] * 2 + ["안녕"] * 8)

    ask(any_texts(100, seed=3))
    before = resident_bytes()
    ask(any_texts(1_000, seed=4))
    grown = resident_bytes() - before
    record_property("bytes_grown", grown)
    assert grown < 50e6


def test_no_escape_sequence_that_was_learnt_reaches_a_reader() -> None:
    """Of a poisoned CSV the reader drops them; this is an export that says them all the same."""
    pipeline = TextPipeline(CharacterAnalyzer(), VOCABULARY, 8)
    for task in ("chat", "language-model"):
        reply = Responder(pipeline, Poisoned(), task).reply("안녕")
        assert reply.text
        assert is_plain(reply.text)
        assert "\n" not in reply.text


def test_a_conversation_shows_no_escape_sequence(capsys: pytest.CaptureFixture[str]) -> None:
    from chatbot.cli.console import say

    typed = iter([*any_texts(500, seed=5), *(f"{command}{escape}" for command in ("/", "/why ") for escape in ESCAPES)])

    def read() -> str:
        try:
            return next(line for line in typed if line.strip() != "/quit").replace("\n", "")
        except StopIteration:
            raise EOFError from None

    class Told(Stub):
        def reply(self, text: str) -> Reply:
            said = super().reply(text)
            return Reply(said.text, pieces=said.pieces, spelled=said.spelled, withheld="\x1b[31m", notices=(Notice.UNSURE,))

    output = Lines()
    converse(read, Told(), output, say)
    assert output.count > 100
    assert is_plain(capsys.readouterr().err)
