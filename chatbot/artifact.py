"""What an export consists of besides the SavedModel itself, readable without TensorFlow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chatbot
from chatbot.config import TextSettings
from chatbot.errors import UserError
from chatbot.sealed import parse_json, seal, unseal
from chatbot.storage import file_digest, wait_for_replacement, write_json, write_text
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
    """Adds vocabulary, known answers and manifest to a SavedModel.

    The manifest names the digest of every other file and seals itself, so its own digest stands for the whole.
    """
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
    write_json(directory / MANIFEST, seal(manifest))


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


_AGAIN = "copy it once more, or run its train.py command again"
_FIELDS = {"format", "text", "vocabulary_digest", "threshold", "files", "versions"}


def read_manifest(directory: Path, sha256: str | None = None) -> Manifest:
    """Reads the manifest alone; no other file is looked at.

    Args:
        directory: of the export.
        sha256: digest of the manifest's bytes that it must have; None: any.

    Raises:
        UserError: it is missing, damaged, of another version, or not the one that is wanted.
    """
    path = directory / MANIFEST
    try:
        data = path.read_bytes()
        if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256.lower():
            raise UserError(f"{path}: not of the SHA-256 that was asked for; nothing was loaded")
        document = unseal(parse_json(data))
        if document["format"] != FORMAT:
            raise UserError(f"{path}: an export of format {document['format']}, this version reads {FORMAT}; train it again")
        return _manifest(document)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: missing or damaged ({type(error).__name__}); {_AGAIN}") from error


def _manifest(document: Mapping[str, Any]) -> Manifest:
    if set(document) != _FIELDS:
        raise ValueError(f"unknown or missing fields: {sorted(set(document) ^ _FIELDS)}")
    try:
        text = TextSettings.from_dict(document["text"])
    except UserError as error:
        raise ValueError(str(error)) from error
    threshold = None if document["threshold"] is None else float(document["threshold"])
    return Manifest(text, str(document["vocabulary_digest"]), threshold, dict(document["files"].items()))


def read_extra(directory: Path, sha256: str | None = None) -> tuple[Manifest, Vocabulary]:
    """Reads manifest and vocabulary, and checks every file of the export against its digest.

    Args:
        directory: of the export.
        sha256: see `read_manifest`.

    Raises:
        UserError: a file is missing, damaged or foreign; the message names it.
    """
    manifest = read_manifest(directory, sha256)
    for name, digest in manifest.files.items():
        file = directory / name
        try:
            actual = file_digest(file) if file.is_file() else None
        except OSError as error:
            raise UserError(f"{file}: not readable ({error.strerror}); {_AGAIN}") from error
        if actual is None:
            raise UserError(f"{file}: missing; {_AGAIN}")
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
        wait_for_replacement(candidate)
        if (candidate / SAVED_MODEL).is_file():
            return candidate
    if not path.exists():
        raise UserError(f"{path}: no such directory; give a run directory or an export, as train.py writes it to --output")
    if (path / "checkpoints").is_dir():
        raise UserError(f"{path}: the training there is not finished; run the same train.py command again to go on")
    raise UserError(f"{path}: neither an export ({SAVED_MODEL}) nor a run directory (export/{SAVED_MODEL})")
