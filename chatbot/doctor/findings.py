"""Findings: what is wrong with files, with a code for machines and a sentence for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chatbot.doctor.finding_texts import TEXTS, Severity, counted
from chatbot.doctor.scan import Scan
from chatbot.doctor.source import SHOWN_LINES, Source

FREQUENT_SHARE = 0.05
"""An answer on more of the pairs than this is what the bot will say all the time."""


@dataclass(frozen=True)
class Finding:
    """Something a user should know about a file.

    Attributes:
        code: its kind, a key of `TEXTS`.
        count: how many there are: rows, or what the text counts.
        file: where; None: all files together.
        lines: where in the file, from 1; the first 20.
        values: what the text quotes besides the count.
    """

    code: str
    count: int
    file: str | None = None
    lines: tuple[int, ...] = ()
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return TEXTS[self.code].severity

    def text(self, language: str) -> str:
        """One sentence or two in `language` (en, ko)."""
        return TEXTS[self.code].sentence(language).format(**self.values, **counted(self.count, language))

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, with the text in both languages."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "file": self.file,
            "count": self.count,
            "lines": list(self.lines),
            "values": self.values,
            "text": {language: self.text(language) for language in ("en", "ko")},
        }


def ordered(findings: Sequence[Finding]) -> list[Finding]:
    """The worst first; otherwise in the order they came in."""
    order = list(Severity)
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def find_in(scan: Scan) -> list[Finding]:
    """All that one pass shows to be wrong."""
    found = []
    for source in scan.sources:
        found += _form(source)
        found += [
            Finding(fault.value, tally.count, str(source.path), tuple(tally.lines)) for fault, tally in source.tallies.items()
        ]
    if not len(scan.pairs):
        return [Finding("no_pairs", 0), *found]
    return found + _contradictions(scan) + _frequent_answers(scan)


def _form(source: Source) -> list[Finding]:
    """What is odd about the file as a whole."""
    found, path = [], str(source.path)
    if source.encoding.name == "cp949":
        found.append(Finding("not_unicode", 1, path, values={"encoding": source.encoding.name}))
    ends = source.layout.line_ends
    if len(ends) > 1:
        listed = ", ".join(f"{end} {count:,}" for end, count in ends.most_common())
        found.append(Finding("mixed_line_ends", sum(ends.values()) - max(ends.values()), path, values={"ends": listed}))
    return found


def _contradictions(scan: Scan) -> list[Finding]:
    """Questions, by letters and digits, with answers that differ in letters and digits."""
    questions, answers = scan.pairs.column("question_key"), scan.pairs.column("answer_key")
    order = np.lexsort((answers, questions))
    sorted_questions, sorted_answers = questions[order], answers[order]
    differs = (sorted_questions[1:] == sorted_questions[:-1]) & (sorted_answers[1:] != sorted_answers[:-1])
    rows = np.isin(questions, sorted_questions[1:][differs])
    return _by_file(scan, "contradictions", rows, questions)


def _frequent_answers(scan: Scan) -> list[Finding]:
    total = len(scan.pairs)
    frequent = [entry for entry in scan.frequent_answers if entry[1] > max(FREQUENT_SHARE * total, 1)]
    if not frequent:
        return []
    answers = scan.pairs.column("answer")
    rows = np.isin(answers, np.array([key for key, _, _ in frequent], dtype=np.uint64))
    _, count, text = frequent[0]
    return _by_file(scan, "frequent_answer", rows, answers, {"answer": text[:60], "share": count / total})


def _by_file(
    scan: Scan, code: str, rows: np.ndarray, of_what: np.ndarray, values: dict[str, Any] | None = None
) -> list[Finding]:
    """A finding a file for rows (bool [N]); it counts the distinct values of `of_what` [N] on them."""
    files, lines = scan.pairs.column("source"), scan.pairs.column("line")
    found = []
    for number, source in enumerate(scan.sources):
        here = rows & (files == number)
        if here.any():
            first = tuple(int(line) for line in lines[here][:SHOWN_LINES])
            found.append(Finding(code, len(np.unique(of_what[here])), str(source.path), first, values or {}))
    return found
