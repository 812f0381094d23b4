"""Checkpoints: ALL variables and the training state, in directories that are whole or not there."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chatbot.errors import UserError
from chatbot.sealed import parse_json
from chatbot.storage import file_digest, replace_directory, write_json
from chatbot.training.state import TrainingState

FORMAT = 2  # 2: an answer memory multiplies its values
_KEPT_BEFORE = 1
_VARIABLES, _STATE = "variables.npz", "state.json"


class Checkpoints:
    """The checkpoints of one run, newest two and best.

    Args:
        directory: where they lie.
        warn: takes one line where a damaged one is passed over.
    """

    def __init__(self, directory: Path, warn: Callable[[str], None]) -> None:
        self.directory = directory
        self.warn = warn

    @property
    def best(self) -> Path:
        """The checkpoint with the best replies so far."""
        return self.directory / "best"

    def save(self, variables: Sequence[Any], state: TrainingState, is_best: bool = False) -> None:
        """Writes a checkpoint named by phase and step; removes all but it, the one before it, and best.

        Raises:
            OSError: the disk is full or not writable; what was there is still there.
            UserError: a variable is not finite; what was there is still there.
        """
        document = {"format": FORMAT, "state": state.to_dict(), "names": [_name(variable) for variable in variables]}
        arrays: dict[str, Any] = {f"{index:05d}": np.asarray(variable) for index, variable in enumerate(variables)}
        for variable, array in zip(variables, arrays.values(), strict=True):
            if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
                raise UserError(
                    f"step {state.step}: {variable.path} is not finite; the last good weights are kept. "
                    "Try a lower --learning-rate"
                )
        newest = self.directory / f"{state.phase}-{state.step:08d}"
        # Best comes first: a kill between the two has the epoch done again. The other way round the state would call
        # these weights the best, and older ones would lie there.
        for target in [*([self.best] if is_best else []), newest]:
            with replace_directory(target) as beside:
                np.savez(beside / _VARIABLES, **arrays)
                write_json(beside / _STATE, {**document, "digest": _digest(beside, document)})
        before = [path for path in self._newest_first(state.phase) if path < newest]
        for path in self._newest_first(state.phase):
            if path > newest or path in before[_KEPT_BEFORE:]:  # later ones were damaged: this state passed them over
                shutil.rmtree(path)

    def forget(self, phase: str) -> None:
        """Removes the checkpoints of a phase that is to begin anew."""
        for path in self._newest_first(phase):
            shutil.rmtree(path)

    def _newest_first(self, phase: str) -> list[Path]:
        return sorted(self.directory.glob(f"{phase}-????????"), reverse=True)

    def restore_newest(self, variables: Sequence[Any], phase: str) -> TrainingState | None:
        """Loads the newest usable checkpoint of a phase into `variables`; None where there is none.

        One that tells of best weights is usable only with them: without, the training would end with worse ones. They may
        be better than it knows, if a kill came between the two.
        """
        paths = self._newest_first(phase)
        for path in paths:
            try:
                self._check_best(path)
                return restore(path, variables)
            except UserError as error:
                before = "there is none before it, so this begins anew" if path == paths[-1] else "the one before it is used"
                self.warn(f"{error}; {before}")
        return None

    def _check_best(self, path: Path) -> None:
        score = read_state(path)["state"]["best_score"]
        if score is None:
            return
        try:
            found = read_state(self.best)["state"]["best_score"]
        except UserError as error:
            raise UserError(f"{path} needs its best weights, but {error}") from error
        if found is None or found < score:
            raise UserError(f"{path} needs its best weights, but {self.best} is of another training")


def read_state(path: Path) -> dict[str, Any]:
    """The document of a checkpoint: its `state`, and the `names` of its variables.

    Raises:
        UserError: the checkpoint is missing, damaged, or of another version.
    """
    try:
        document = parse_json((path / _STATE).read_bytes())
        if document["format"] != FORMAT:
            raise UserError(f"{path}: a checkpoint of format {document['format']}, not {FORMAT}")
        if _digest(path, document) != document.pop("digest"):
            raise UserError(f"{path}: the checkpoint is damaged")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: the checkpoint is damaged ({type(error).__name__})") from error
    return dict(document)


def restore(path: Path, variables: Sequence[Any]) -> TrainingState:
    """Loads a checkpoint into `variables`, by place, with names and shapes compared. Nothing is loaded on failure.

    Args:
        variables: all that were saved, or the first of them.

    Raises:
        UserError: the checkpoint is damaged or of other variables.
    """
    document = read_state(path)
    names = document["names"][: len(variables)]
    if names != [_name(variable) for variable in variables]:
        raise UserError(f"{path}: the checkpoint is of another model")
    try:
        with (path / _VARIABLES).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = [archive[f"{index:05d}"] for index in range(len(variables))]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise UserError(f"{path}: the checkpoint is damaged ({type(error).__name__})") from error
    for variable, array in zip(variables, arrays, strict=True):
        if tuple(variable.shape) != array.shape:
            raise UserError(f"{path}: {variable.path} has shape {array.shape}, expected {tuple(variable.shape)}")
    for variable, array in zip(variables, arrays, strict=True):
        variable.assign(array)
    return TrainingState.from_dict(document["state"])


def _name(variable: Any) -> str:
    """A variable's path; seed generators without their number, which counts those of the process, not of the model."""
    return re.sub(r"^seed_generator_\d+/", "seed_generator/", variable.path)


def _digest(path: Path, document: dict[str, Any]) -> str:
    """SHA-256 over the variables' file and the document beside it."""
    described = json.dumps([document[name] for name in ("format", "state", "names")])
    return hashlib.sha256(f"{file_digest(path / _VARIABLES)} {described}".encode()).hexdigest()
