"""The conversation over streams, with an answerer that echoes."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.cli import messages
from chatbot.cli.repl import answer_lines, converse, read_lines
from chatbot.cli.terminal import HISTORY_LINES, PrivateHistory
from chatbot.notices import Notice
from chatbot.responder import Reply
from chatbot.text.normalize import normalize


class Echo:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def reply(self, text: str) -> Reply:
        self.asked.append(text)
        if text == "멈춰":
            raise KeyboardInterrupt
        normal = normalize(text)
        if not normal:
            return Reply("", notices=(Notice.BLANK_QUESTION,))
        return Reply(f"[{normal}]", pieces=("▁조각",), spelled=("조각",), log_probability=-1.25)


def pipe(data: bytes) -> tuple[list[str], list[str]]:
    output, notices = io.StringIO(), []
    answer_lines(read_lines(io.BytesIO(data)), Echo(), output, notices.append)
    return output.getvalue().split("\n")[:-1], notices


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        ("안녕\n심심해\n".encode(), ["[안녕]", "[심심해]"]),
        ("안녕\n심심해".encode(), ["[안녕]", "[심심해]"]),
        ("안녕\r\n\r\n심심해\r\n".encode(), ["[안녕]", "", "[심심해]"]),
        (b"\n\n \n", ["", "", ""]),
        ("\ufeff안녕\n".encode(), ["[안녕]"]),
        ("안녕\n".encode("cp949") + "하세요\n".encode(), ["[안녕]", "[하세요]"]),
        (unicodedata.normalize("NFD", "안녕\n").encode(), ["[안녕]"]),
        ("😀 👨\u200d👩\u200d👧\n".encode(), ["[😀 👨\u200d👩\u200d👧]"]),
        ("가나".encode()[:5] + b"\n", ["[가\ufffd]"]),
        (b"\xff\xfe\x00\n", ["[\ufffd\ufffd]"]),
        ("/quit\n안녕\n".encode(), ["[/quit]", "[안녕]"]),
        (("가" * 5_000 + "\n").encode(), ["[" + "가" * 5_000 + "]"]),
        ("한\u2028줄\x0b이다\x85\n".encode(), ["[한 줄 이다]"]),
    ],
)
def test_a_line_out_for_a_line_in(data: bytes, lines: list[str]) -> None:
    assert pipe(data)[0] == lines


def test_blank_lines_get_a_notice_beside() -> None:
    assert pipe(b"\n")[1] == [messages.NOTICES[Notice.BLANK_QUESTION]]


def test_every_notice_has_words() -> None:
    assert set(messages.NOTICES) == set(Notice)


def talk(*typed: str | type[BaseException]) -> tuple[str, list[str], Echo]:
    lines: Iterator[str | type[BaseException]] = iter(typed)
    output, notices, echo = io.StringIO(), [], Echo()

    def read() -> str:
        line = next(lines)
        if not isinstance(line, str):
            raise line
        return line

    converse(read, echo, output, notices.append)
    return output.getvalue(), notices, echo


def test_a_conversation() -> None:
    output, notices, _ = talk("안녕", "심심해", "/quit", "안 읽힘")
    assert output == "봇> [안녕]\n봇> [심심해]\n"
    assert notices == [messages.BANNERS["chat"], messages.FAREWELL]


@pytest.mark.parametrize("leaving", [EOFError, KeyboardInterrupt])
def test_leaving_by_key(leaving: type[BaseException]) -> None:
    output, notices, _ = talk("안녕", leaving)
    assert output == "봇> [안녕]\n"
    assert notices[-1] == messages.FAREWELL


def test_help_and_unknown_commands_are_not_asked() -> None:
    _, notices, echo = talk("/help", "/nonsense 1", "   ", EOFError)
    assert messages.HELP in notices
    assert any("/nonsense" in notice and "/help" in notice for notice in notices)
    assert echo.asked == []


def test_why_shows_pieces_spelled_words_and_log_probability() -> None:
    _, notices, _ = talk("/why", "안녕", "/why", EOFError)
    assert notices[1] == messages.NOTHING_ASKED
    assert "▁조각" in notices[2]
    assert "-1.25" in notices[2]


def test_ctrl_c_during_an_answer_drops_it_and_goes_on() -> None:
    output, notices, _ = talk("멈춰", "안녕", EOFError)
    assert output == "봇> [안녕]\n"
    assert messages.DROPPED in notices


def test_history_is_private_short_and_survives(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    history = PrivateHistory(path)
    for number in range(HISTORY_LINES + 10):
        history.store_string(f"질문 {number}")
    history.store_string("두\n줄 \ud800")
    assert path.stat().st_mode & 0o777 == 0o600
    lines = list(PrivateHistory(path).load_history_strings())
    assert len(lines) == HISTORY_LINES
    assert lines[0].startswith("두 줄")
    assert lines[1] == f"질문 {HISTORY_LINES + 9}"
    assert list(tmp_path.joinpath("state").iterdir()) == [path]


def test_no_place_for_a_history_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = PrivateHistory(tmp_path / "file" / "history")
    history.store_string("안녕")
    assert list(history.load_history_strings()) == []
