"""JSON documents that carry a digest over their own content, so that a changed byte cannot pass for a setting."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_SEAL = "digest"


def parse_json(data: bytes) -> Any:
    """What a JSON document in UTF-8 says.

    Raises:
        ValueError: it is none, in whatever way.
    """
    try:
        return json.loads(data.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("brackets in brackets without end") from error


def seal(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with its digest."""
    return {**document, _SEAL: _digest(document)}


def unseal(document: Any) -> dict[str, Any]:
    """The content of what `seal` made. A document without a seal, from before there were any, passes as it is.

    Raises:
        ValueError: it is no document, or not what was sealed.
    """
    if not isinstance(document, dict):
        raise ValueError("not a document with names")
    content = {name: value for name, value in document.items() if name != _SEAL}
    if document.get(_SEAL, _digest(content)) != _digest(content):
        raise ValueError("its digest is that of another content")
    return content


def _digest(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
