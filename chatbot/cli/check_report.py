"""The doctor's report as tables on stdout."""

from __future__ import annotations

import sys
from collections import Counter

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from chatbot.cli.check_words import DELIMITERS, how_found, word
from chatbot.doctor.diagnosis import MOST_ANSWERS, Diagnosis
from chatbot.doctor.finding_texts import Severity
from chatbot.doctor.findings import Finding
from chatbot.doctor.outlook import Texts
from chatbot.doctor.source import Source
from chatbot.text.normalize import normalize

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFORMATION: "dim"}
_WIDTH_IN_A_PIPE = 110
_BAR = 12


class Report:
    """Prints a diagnosis in one language (en, ko)."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.console = Console(width=None if sys.stdout.isatty() else _WIDTH_IN_A_PIPE, highlight=False, markup=False)

    def print(self, diagnosis: Diagnosis) -> None:
        """Prints all of it: files, findings, answers, lengths, training."""
        if not diagnosis.scan.sources:
            return  # the errors say it all
        for source in diagnosis.scan.sources:
            self._source(source)
        self._findings(diagnosis.findings)
        if len(diagnosis.scan.pairs):
            self._answers(diagnosis)
            self._lengths(diagnosis)
            self._training(diagnosis)

    def _(self, name: str) -> str:
        return word(name, self.language)

    def _table(self, title: str, *headers: str) -> Table:
        """A table with a title; columns with `headers`, or two without."""
        table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, show_header=bool(headers))
        for header in headers or ("", ""):
            table.add_column(header, overflow="fold")
        return table

    def _source(self, source: Source) -> None:
        ends = ", ".join(f"{end} {count:,}" for end, count in source.layout.line_ends.most_common())
        table = self._table(_shown(str(source.path)))
        rows = [
            ("encoding", f"{source.encoding.name} ({how_found(source.encoding.how, self.language)})"),
            ("line ends", ends or self._("none")),
            ("delimiter", self._("alternating" if source.is_alternating else DELIMITERS[source.layout.delimiter])),
            ("columns", self._columns(source)),
            ("rows", self._rows(source)),
        ]
        for name, value in rows:
            table.add_row(self._(name), Text(value))
        self.console.print(table)

    def _columns(self, source: Source) -> str:
        if source.is_alternating:
            return "-"
        columns, names = source.columns, source.columns.names
        used = {"question": columns.question, "answer": columns.answer, "label": columns.label}
        parts = [f"{self._(what)} = {names[index]}" for what, index in used.items() if index is not None]
        unused = [name or "''" for index, name in enumerate(names) if index not in used.values()]
        return ", ".join(parts) + (f"; {self._('unused')}: {', '.join(unused[:20])}" if unused else "")

    def _rows(self, source: Source) -> str:
        counts = {"read": source.rows, "skipped": source.skipped, "blank": source.layout.blank_rows}
        return ", ".join(f"{self._(name)} {count:,}" for name, count in counts.items())

    def _findings(self, findings: list[Finding]) -> None:
        if not findings:
            self.console.print(Text(f"{self._('findings')}: {self._('nothing')}\n", "bold green"))
            return
        several = len({finding.file for finding in findings if finding.file}) > 1
        table = self._table(self._("findings"), "", "", self._("lines"))
        table.columns[2].ratio, table.columns[1].ratio = 1, 3
        table.expand = True
        for finding in findings:
            lines = ", ".join(map(str, finding.lines)) + (", ..." if finding.count > len(finding.lines) > 0 else "")
            where = f"{_shown(finding.file)}: " if several and finding.file else ""
            style = _STYLES[finding.severity]
            table.add_row(
                Text(self._(finding.severity.value), style), Text(where + finding.text(self.language)), Text(lines, "dim")
            )
        self.console.print(table)

    def _answers(self, diagnosis: Diagnosis) -> None:
        scan, total = diagnosis.scan, len(diagnosis.scan.pairs)
        title = f"{self._('answers')} ({self._('distinct answers')}: {scan.distinct_answers:,})"
        table = self._table(title, self._("pairs"), self._("share"), self._("answer"))
        for _, count, text in scan.frequent_answers[:MOST_ANSWERS]:
            table.add_row(f"{count:,}", f"{count / total:.1%}", Text(text if len(text) <= 80 else text[:79] + "…"))
        self.console.print(table)

    def _lengths(self, diagnosis: Diagnosis) -> None:
        scan, texts = diagnosis.scan, diagnosis.texts
        columns = {"question characters": scan.question_lengths, "answer characters": scan.answer_lengths}
        if texts is not None:
            columns |= {"question pieces": texts.question_pieces, "answer pieces": texts.answer_pieces}
        table = self._table(self._("lengths"), self._("length"), *map(self._, columns))
        widest = max(max(counts) for counts in columns.values())
        powers = [1 << exponent for exponent in range((widest - 1).bit_length() + 1)]
        for first, last in [(power // 2 + 1, power) for power in powers]:
            counts = [_between(lengths, first, last) for lengths in columns.values()]
            bars = [self._bar(count, lengths) for count, lengths in zip(counts, columns.values(), strict=True)]
            table.add_row(str(first) if first == last else f"{first}-{last}", *bars)
        self.console.print(table)

    def _bar(self, count: int, lengths: Counter[int]) -> Text:
        block = "█" if (self.console.encoding or "").startswith("utf") else "#"
        return Text(f"{count:>9,} {block * round(_BAR * count / lengths.total())}")

    def _training(self, diagnosis: Diagnosis) -> None:
        plans, texts = diagnosis.plans, diagnosis.texts
        assert plans is not None
        about = "" if diagnosis.scan.sample.is_whole else "~"
        split = f"{self._('train')} {about}{plans.num_train:,}, {self._('held out')} {about}{plans.num_validation:,}"
        table = self._table(self._("training"))
        rows = [
            ("preset", plans.preset),
            ("split", split),
            ("batch", str(plans.batch_size)),
            ("steps", f"{plans.steps_per_epoch:,}"),
            ("epochs", str(plans.epochs)),
            *([] if texts is None else self._text_rows(texts)),
        ]
        for name, value in rows:
            table.add_row(self._(name), Text(value))
        self.console.print(table)
        if texts is not None and not texts.is_whole:
            self.console.print(Text(self._("sample").format(rows=f"{texts.num_sampled:,}")))

    def _text_rows(self, texts: Texts) -> list[tuple[str, str]]:
        at_least = "" if texts.has_all_cuts else "≥ "
        held_out = texts.held_out_spelled_share
        lengths = (texts.max_question_length, texts.max_answer_length)
        cuts = (len(texts.cut_questions), len(texts.cut_answers))
        names = (self._("question"), self._("answer"))
        return [
            ("vocabulary", f"{texts.vocabulary_size:,} {self._('pieces')}"),
            ("longest", ", ".join(f"{name} {length} {self._('pieces')}" for name, length in zip(names, lengths, strict=True))),
            ("cut", ", ".join(f"{name} {at_least}{count:,}" for name, count in zip(names, cuts, strict=True))),
            (
                "spelled",
                f"{texts.spelled_share:.1%}" + ("" if held_out is None else f" ({self._('in held out')} {held_out:.1%})"),
            ),
        ]


def _between(lengths: Counter[int], first: int, last: int) -> int:
    return sum(count for length, count in lengths.items() if first <= length <= last)


def _shown(path: str) -> str:
    """A path without characters that a terminal would obey."""
    return normalize(path)
