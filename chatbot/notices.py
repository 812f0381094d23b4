"""What a reader should know about a reply."""

from __future__ import annotations

import enum


class Notice(enum.StrEnum):
    """`NOTHING_TO_GO_BY`, `UNSURE` and `UNKNOWN_ANSWER` say why a fallback stands in place of a reply."""

    BLANK_QUESTION = "blank_question"
    CUT_QUESTION = "cut_question"
    NOTHING_KNOWN = "nothing_known"
    NOTHING_TO_GO_BY = "nothing_to_go_by"
    UNSURE = "unsure"
    UNKNOWN_ANSWER = "unknown_answer"
    CUT_REPLY = "cut_reply"
    FAILED = "failed"
