"""A Korean question-and-answer chatbot that you train from your own CSV."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chatbot.responder import Reply as Reply
    from chatbot.responder import Responder as Responder

# With another backend named by the environment or by ~/.keras/keras.json, `import tensorflow` itself fails.
os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.pop("TF_USE_LEGACY_KERAS", None)
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

__version__ = "0.1.0"
__all__ = ["Reply", "Responder", "__version__"]


def __getattr__(name: str) -> Any:
    """Loads `Responder` and `Reply` when they are first asked for: they are heavy, this package is not."""
    if name in ("Reply", "Responder"):
        from chatbot import responder

        return getattr(responder, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
