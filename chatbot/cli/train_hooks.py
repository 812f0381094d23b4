"""What the command line does along the way of a training: progress, history, sample replies."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chatbot.dataset.encode import Ids
from chatbot.text.normalize import without_controls
from chatbot.training.progress import Progress
from chatbot.training.replies import Replier
from chatbot.training.run_directory import RunDirectory
from chatbot.training.state import TrainingState

_SHORT = {"chrf": "chrF", "bits_per_character": "bits per character"}
_FORMATS = {"chrf": ".1f"}


@dataclass(frozen=True)
class Samples:
    """The few questions, or beginnings of lines, whose replies are shown after each epoch."""

    title: str
    questions: Sequence[str]
    question_ids: Sequence[Ids]


class ConsoleHooks:
    """Shows a line while an epoch runs, and after it the same questions with their replies; keeps both in the run."""

    def __init__(self, run: RunDirectory, replier: Replier, samples: Samples, total_steps: int, steps_per_epoch: int) -> None:
        self._run = run
        self._replier = replier
        self._samples = samples
        self._progress = Progress(sys.stderr, total_steps, steps_per_epoch)

    def on_step(self, state: TrainingState) -> None:
        """Shows how it goes."""
        self._progress.on_step(state)

    def on_epoch(self, state: TrainingState, record: dict[str, Any]) -> None:
        """Writes the history and shows sample replies."""
        self._run.append_history(record)
        summary = f"epoch {state.epoch}: loss {record['loss']:.3f}, accuracy {record['accuracy']:.3f}"
        validation = record.get("validation")
        if validation:
            shown = (f"{_SHORT.get(name, name)} {value:{_FORMATS.get(name, '.3f')}}" for name, value in validation.items())
            summary += f"; held out: {', '.join(shown)}{' (best)' if record['is_best'] else ''}"
        replies = self._replier.replies(self._samples.question_ids)
        dialogue = "\n".join(
            f"    {question} -> {reply.text}" for question, reply in zip(self._samples.questions, replies, strict=True)
        )
        self._run.append_samples(f"{summary}\n  {self._samples.title}\n{dialogue}\n")
        self._progress.say(without_controls(f"{summary}\n  {self._samples.title}\n{dialogue}"))
