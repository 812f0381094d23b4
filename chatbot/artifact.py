"""What an export consists of besides the SavedModel itself, readable without TensorFlow."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chatbot
from chatbot.config import TextSettings
from chatbot.errors import UserError
from chatbot.storage import file_digest, write_json, write_text
from chatbot.text.vocabulary import Vocabulary

FORMAT = 2
SAVED_MODEL = "saved_model.pb"
VOCABULARY = "assets.extra/vocabulary.json"
ANSWERS = "assets.extra/answers.json"
MANIFEST = "assets.extra/manifest.json"


@dataclass(frozen=True)
class KnownAnswers:
    """By what a chat can tell which replies to trust.

    Attributes:
        texts: the distinct answers of the training data; none of a language model.
        threshold: the confidence below which the model had better not answer; None where no questions were held out.
    """

    texts: tuple[str, ...] = ()
    threshold: float | None = None


def pad_morphemes(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Rows of morphemes, padded behind with "" to the longest: what the signature takes."""
    width = max(1, *map(len, rows))
    return [[*row, *[""] * (width - len(row))] for row in rows]


def write_extra(
    directory: Path, vocabulary: Vocabulary, text: TextSettings, known: KnownAnswers, versions: Mapping[str, str]
) -> None:
    """Adds vocabulary, known answers and manifest to a SavedModel; the manifest names the digest of every other file."""
    write_text(directory / VOCABULARY, vocabulary.to_json())
    write_text(directory / ANSWERS, json.dumps(known.texts, ensure_ascii=False, indent=0))
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    manifest = {
        "format": FORMAT,
        "text": text.to_dict(),
        "vocabulary_digest": vocabulary.digest,
        "threshold": known.threshold,
        "files": {path.relative_to(directory).as_posix(): file_digest(path) for path in files},
        "versions": {"chatbot": chatbot.__version__, **versions},
    }
    write_json(directory / MANIFEST, manifest)


@dataclass(frozen=True)
class Manifest:
    """What an export says of itself.

    Attributes:
        text: settings with both maximum lengths decided.
        vocabulary_digest: of the vocabulary that the model was trained with.
        threshold: see `KnownAnswers`.
        files: SHA-256 of every other file, by its path below the export.
    """

    text: TextSettings
    vocabulary_digest: str
    threshold: float | None
    files: dict[str, str]


_AGAIN = "train it again: train.py with --overwrite"


def read_manifest(directory: Path) -> Manifest:
    """Reads the manifest alone; no other file is looked at.

    Raises:
        UserError: it is missing, damaged or of another version.
    """
    path = directory / MANIFEST
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != FORMAT:
            raise UserError(f"{path}: an export of format {document['format']}, this version reads {FORMAT}; {_AGAIN}")
        text = TextSettings.from_dict(document["text"])
        threshold = None if document["threshold"] is None else float(document["threshold"])
        return Manifest(text, str(document["vocabulary_digest"]), threshold, dict(document["files"].items()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: missing or damaged ({type(error).__name__}); {_AGAIN}") from error


def read_extra(directory: Path) -> tuple[Manifest, Vocabulary]:
    """Reads manifest and vocabulary, and checks every file of the export against its digest.

    Raises:
        UserError: a file is missing, damaged or foreign; the message names it.
    """
    manifest = read_manifest(directory)
    for name, digest in manifest.files.items():
        file = directory / name
        try:
            actual = file_digest(file)
        except OSError as error:
            raise UserError(f"{file}: missing or not readable; {_AGAIN}") from error
        if actual != digest:
            raise UserError(f"{file}: damaged, or from another export; {_AGAIN}")
    vocabulary = Vocabulary.from_json((directory / VOCABULARY).read_text(encoding="utf-8"))
    if vocabulary.digest != manifest.vocabulary_digest:
        raise UserError(f"{directory / VOCABULARY}: not the vocabulary this model was trained with; {_AGAIN}")
    return manifest, vocabulary


def read_known_answers(directory: Path) -> frozenset[str]:
    """The distinct answers of the training data, of an export that `read_extra` has checked."""
    return frozenset(json.loads((directory / ANSWERS).read_text(encoding="utf-8")))


def find_export(path: Path) -> Path:
    """The export that a path means: the path itself, or the export inside a run directory.

    Raises:
        UserError: there is none; the message says what there is instead.
    """
    for candidate in (path, path / "export"):
        if (candidate / SAVED_MODEL).is_file():
            return candidate
    if not path.exists():
        raise UserError(f"{path}: no such directory; give a run directory or an export, as train.py writes it to --output")
    if (path / "checkpoints").is_dir():
        raise UserError(f"{path}: the training there is not finished; run the same train.py command again to go on")
    raise UserError(f"{path}: neither an export ({SAVED_MODEL}) nor a run directory (export/{SAVED_MODEL})")
