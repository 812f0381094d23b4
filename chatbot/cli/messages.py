"""What a chatting person reads, in Korean."""

from __future__ import annotations

from chatbot.notices import Notice
from chatbot.responder import Reply
from chatbot.text.normalize import normalize

PROMPT = "나> "
REPLY = "봇> "
BANNERS = {
    "chat": "안녕하세요! 하고 싶은 말을 적어 주세요. 도움말은 /help, 끝내려면 /quit 을 입력하세요.",
    "language-model": "글의 첫머리를 적으면 이어서 써 드려요. 도움말은 /help, 끝내려면 /quit 을 입력하세요.",
}
HELP = """/help  이 도움말
/why   방금 한 대답을 챗봇이 어떻게 골랐는지
/quit  끝내기 (Ctrl-D도 됩니다)
챗봇은 한 번에 질문 하나만 보고 대답합니다. 앞에서 나눈 말은 기억하지 못해요."""
LOADING = "모델을 불러오고 있어요. 잠시만 기다려 주세요."
DROPPED = "대답을 그만두었어요."
NOTHING_ASKED = "아직 대답한 것이 없어요."
FAREWELL = "안녕히 가세요!"

NOTICES = {
    Notice.BLANK_QUESTION: "빈 줄이라 대답하지 않았어요.",
    Notice.CUT_QUESTION: "질문이 길어서 앞부분만 읽었어요.",
    Notice.NOTHING_KNOWN: "아는 낱말이 없어서 어림짐작으로 대답했어요.",
    Notice.NOTHING_TO_GO_BY: "아는 낱말이 없어서 정해 둔 말로 대신했어요.",
    Notice.UNSURE: "자신이 없어서 정해 둔 말로 대신했어요.",
    Notice.UNKNOWN_ANSWER: "배운 대답이 아니어서 정해 둔 말로 대신했어요.",
    Notice.CUT_REPLY: "대답이 길어져서 중간에 끊었어요.",
    Notice.FAILED: "이 줄에는 대답하지 못했어요.",
}


def unknown_command(line: str) -> str:
    """What a line with an unknown command gets."""
    return f"{normalize(line.split()[0])} 명령은 없어요. /help 를 보세요."


def why(reply: Reply) -> str:
    """How a reply came about: the pieces seen, those spelled, how sure, and what was withheld and why."""
    spelled = " ".join(reply.spelled) or "없음"
    return (
        f"챗봇이 본 조각: {' '.join(reply.pieces)}\n"
        f"처음 보아 글자로 읽은 낱말: {spelled}\n"
        f"대답의 로그 확률: {reply.log_probability:.2f}, 조각마다의 확신: {reply.confidence:.2f} (0에 가까울수록 확신)"
        + (f"\n하지 않은 대답: {reply.withheld} ({NOTICES[reply.notices[0]]})" if reply.withheld else "")
    )
