"""Everything the doctor has to say about some files, for a person or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from chatbot.dataset.columns import RowFault
from chatbot.doctor.finding_texts import Severity
from chatbot.doctor.findings import Finding, find_in, ordered
from chatbot.doctor.outlook import Plans, Texts, VocabularyTooSmall, find_in_texts, plan_training, read_texts
from chatbot.doctor.scan import Scan
from chatbot.doctor.source import Source, UnreadableFile
from chatbot.text.analyzer import Analyzer

FORMAT = 1
"""Number of the JSON layout."""

MOST_ANSWERS = 10
"""Answers that are listed by frequency."""


@dataclass(frozen=True)
class Diagnosis:
    """What is to be said.

    Attributes:
        scan: what one pass showed.
        findings: the worst first.
        plans: of a training; None where nothing is left to train on.
        texts: of the sample; None where nothing is left, or the vocabulary cannot hold it.
        unreadable: files that could not be read.
    """

    scan: Scan
    findings: list[Finding]
    plans: Plans | None
    texts: Texts | None
    unreadable: list[UnreadableFile]

    @property
    def has_findings(self) -> bool:
        """Whether there is more than information."""
        return any(finding.severity != Severity.INFORMATION for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        scan, total = self.scan, len(self.scan.pairs)
        return {
            "format": FORMAT,
            "files": [_source_to_dict(source) for source in scan.sources],
            "unreadable": [{"file": str(error.path), "message": str(error)} for error in self.unreadable],
            "pairs": total,
            "distinct_answers": scan.distinct_answers,
            "frequent_answers": [
                {"answer": text, "pairs": count, "share": count / total}
                for _, count, text in scan.frequent_answers[:MOST_ANSWERS]
            ],
            "question_characters": _histogram(scan.question_lengths),
            "answer_characters": _histogram(scan.answer_lengths),
            "training": None if self.plans is None else asdict(self.plans),
            "texts": None if self.texts is None else self.texts.to_dict(),
            "findings": [finding.to_dict() for finding in self.findings],
        }


def diagnose(
    scan: Scan,
    unreadable: Sequence[UnreadableFile],
    make_analyzer: Callable[[], Analyzer],
    cache: Path | None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Diagnosis:
    """Adds to a scan what training would make of it.

    Args:
        scan: of the files that could be read.
        unreadable: the others.
        make_analyzer: called where there is something to analyse.
        cache: directory in which morphemes are remembered.
        on_progress: called with the texts analysed and their number.
    """
    findings, plans, texts = find_in(scan) if scan.sources else [], None, None
    if len(scan.pairs):
        plans, analyzer = plan_training(scan), make_analyzer()
        try:
            texts = read_texts(scan, analyzer, cache, on_progress)
            findings += find_in_texts(scan, texts)
        except VocabularyTooSmall as error:
            findings.append(Finding("vocabulary_too_small", 1, values={"message": str(error)}))
    return Diagnosis(scan, ordered(findings), plans, texts, list(unreadable))


def _source_to_dict(source: Source) -> dict[str, Any]:
    columns, names = source.columns, source.columns.names
    used = {"question": columns.question, "answer": columns.answer, "label": columns.label}
    return {
        "file": str(source.path),
        "encoding": asdict(source.encoding),
        "line_ends": dict(source.layout.line_ends),
        "delimiter": None if source.is_alternating else source.layout.delimiter,
        "columns": None
        if source.is_alternating
        else {
            **{what: None if index is None else names[index] for what, index in used.items()},
            "unused": [name for index, name in enumerate(names) if index not in used.values()],
        },
        "rows": source.rows,
        "blank_rows": source.layout.blank_rows,
        "skipped": {
            "rows": source.skipped,
            "reasons": {fault.value: asdict(source.tallies[fault]) for fault in RowFault if fault in source.tallies},
        },
    }


def _histogram(lengths: dict[int, int]) -> dict[str, int]:
    return {str(length): count for length, count in sorted(lengths.items())}
