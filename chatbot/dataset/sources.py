"""Where a run's pairs came from: a run directory keeps no copy of them, so it records their files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chatbot.dataset.corpus import Corpus, ReadOptions, read_corpus
from chatbot.errors import UserError


def describe_sources(paths: Sequence[Path], options: ReadOptions) -> dict[str, Any]:
    """The files and how they were read, as JSON values."""
    return {"paths": [str(path.absolute()) for path in paths], "options": dataclasses.asdict(options)}


def read_sources(config: Mapping[str, Any]) -> Corpus:
    """Reads again the pairs that a run was trained on.

    Args:
        config: document of the run, with `sources` from `describe_sources` and the digest of the pairs.

    Raises:
        UserError: it does not say where they are, a file is gone, or the pairs are not those of the run any more.
    """
    try:
        sources = config["sources"]
        paths, options = [Path(path) for path in sources["paths"]], ReadOptions(**sources["options"])
        digest = config["data"]["digest"]
    except (KeyError, TypeError):
        raise UserError("the run does not say which files it was trained on") from None
    for path in paths:
        if not path.is_file():
            raise UserError(f"{path}, which it was trained on, is not there any more")
    corpus = read_corpus(paths, options)
    if corpus.digest() != digest:
        raise UserError(f"{', '.join(map(str, paths))}: not the pairs any more that it was trained on")
    return corpus
