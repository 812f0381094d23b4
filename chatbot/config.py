"""What a run is made of: frozen, validated dataclasses that are saved with it as JSON.

Every field is a flag of `train.py` of the same name; its metadata holds the flag's help.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

from chatbot.errors import UserError

FORMAT = 1
"""Number of the JSON layout; a document with another one is refused."""


def _setting(default: Any, help: str, choices: tuple[str, ...] = (), common: bool = False, minimum: float | None = None) -> Any:
    """A field with its flag's help; `common` ones are shown by the short `--help`."""
    metadata = {"help": help, "choices": choices, "common": common, "minimum": minimum}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Settings:
    """Base of the config's parts: checks types and ranges when made, and goes to JSON and back."""

    part: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for entry in fields(self):
            _check(entry, getattr(self, entry.name), field_type(type(self), entry.name))

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, validated again."""
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        """Reads what `to_dict` wrote.

        Raises:
            UserError: a field is unknown, missing, or its value is not allowed.
        """
        names = {entry.name for entry in fields(cls)}
        if not isinstance(document, dict) or set(document) != names:
            odd = sorted(names ^ set(document)) if isinstance(document, dict) else document
            raise UserError(f"config, {cls.part}: unknown or missing fields: {odd}")
        return cls(**document)


def field_type(settings: type[Settings], name: str) -> tuple[type, bool]:
    """The type of a field and whether None is allowed: `int | None` -> (int, True)."""
    hint = typing.get_type_hints(settings)[name]
    if isinstance(hint, types.UnionType):
        (kind,) = (argument for argument in typing.get_args(hint) if argument is not types.NoneType)
        return kind, True
    return hint, False


def _check(entry: dataclasses.Field[Any], value: Any, kind_and_optional: tuple[type, bool]) -> None:
    kind, optional = kind_and_optional
    if value is None and optional:
        return
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (isinstance(value, kind) and (kind is bool or not isinstance(value, bool))) and not (kind is float and is_number):
        raise UserError(f"{entry.name} must be {kind.__name__}, not {value!r}")
    if entry.metadata["choices"] and value not in entry.metadata["choices"]:
        raise UserError(f"{entry.name} must be one of {', '.join(entry.metadata['choices'])}, not {value!r}")
    minimum = entry.metadata["minimum"]
    if minimum is not None and not value >= minimum:  # NaN is refused, too
        raise UserError(f"{entry.name} must be at least {minimum}, not {value!r}")


@dataclass(frozen=True)
class TextSettings(Settings):
    """How strings become ids."""

    part: ClassVar[str] = "text"

    analyzer: str = _setting("okt", "what splits text into morphemes", ("okt", "character"), common=True)
    vocabulary_size: int = _setting(8000, "pieces in the vocabulary, at most", minimum=1)
    minimum_frequency: int = _setting(2, "a rarer morpheme gets no piece of its own and is spelled", minimum=1)
    max_question_length: int | None = _setting(
        None, "pieces of a question, the rest is cut (default: the longest, 64 at most)", minimum=1
    )
    max_answer_length: int | None = _setting(
        None, "pieces of an answer, the rest is cut (default: the longest, 160 at most)", minimum=1
    )


@dataclass(frozen=True)
class ModelSettings(Settings):
    """Sizes and architecture of the Transformer."""

    part: ClassVar[str] = "model"

    norm: str = _setting("pre", "normalise behind each residual sum (post) or in front of each sublayer (pre)", ("post", "pre"))
    hidden_dim: int = _setting(256, "width of the vectors between layers", minimum=2)
    num_heads: int = _setting(8, "attention heads", minimum=1)
    head_dim: int | None = _setting(None, "width of a head (default: hidden_dim / num_heads)", minimum=1)
    num_encoder_layers: int = _setting(2, "layers that read the question", minimum=1)
    num_decoder_layers: int = _setting(2, "layers that write the answer", minimum=1)
    intermediate_dim: int = _setting(512, "width inside the feed-forward part", minimum=1)
    answer_memory: bool = _setting(True, "recall the likeliest known answer as one more place that the decoder looks at")
    dropout: float = _setting(0.1, "share of values dropped in training, from sublayers and embeddings", minimum=0)
    attention_dropout: float = _setting(0.1, "share of attention weights dropped in training", minimum=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden_dim % 2:
            raise UserError(f"hidden_dim must be even (sines and cosines in pairs), not {self.hidden_dim}")
        if self.head_dim is None and self.hidden_dim % self.num_heads:
            raise UserError(f"hidden_dim {self.hidden_dim} must be a multiple of num_heads {self.num_heads}; or give head_dim")
        for name in ("dropout", "attention_dropout"):
            if getattr(self, name) >= 1:
                raise UserError(f"{name} must be below 1, not {getattr(self, name)}")


@dataclass(frozen=True)
class TrainingSettings(Settings):
    """How the weights are found. None stands for what the size of the data decides (`training/plan.py`)."""

    part: ClassVar[str] = "training"

    epochs: int | None = _setting(None, "cap on the epochs (default: by the size of the data)", common=True, minimum=1)
    batch_size: int | None = _setting(None, "pairs a step (default: 8 to 64, growing with the data)", common=True, minimum=1)
    learning_rate: float | None = _setting(
        None, "highest learning rate, reached after the warm-up (default: by the size of the data)", common=True, minimum=1e-9
    )
    warmup_share: float = _setting(0.1, "share of all steps in which the learning rate rises", minimum=0)
    clip_norm: float = _setting(1.0, "the gradient's norm is clipped to this", minimum=1e-9)
    label_smoothing: float = _setting(0.1, "probability spread over all pieces in the loss", minimum=0)
    answer_loss: float = _setting(1.0, "weight in the loss of telling which known answer is wanted", minimum=0)
    weight_decay: float = _setting(0.0, "decoupled weight decay (AdamW) of the matrices", minimum=0)
    validation_split: float | None = _setting(
        None, "share of the questions held out (default: 0.1, or 0 below 200 pairs)", common=True, minimum=0
    )
    patience: int = _setting(8, "epochs without better replies before training stops", minimum=1)
    refit: bool = _setting(False, "afterwards train on all pairs for the chosen number of steps", common=True)
    seed: int = _setting(0, "decides weights, order and dropout", common=True, minimum=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("warmup_share", "label_smoothing", "validation_split"):
            value = getattr(self, name)
            if value is not None and value >= 1:
                raise UserError(f"{name} must be below 1, not {value}")


@dataclass(frozen=True)
class Config:
    """All settings of a run."""

    text: TextSettings = TextSettings()
    model: ModelSettings = ModelSettings()
    training: TrainingSettings = TrainingSettings()

    def to_dict(self) -> dict[str, Any]:
        """The whole config as JSON values, with the format number."""
        return {"format": FORMAT, **{part.name: getattr(self, part.name).to_dict() for part in fields(self)}}

    @classmethod
    def from_dict(cls, document: Any) -> Config:
        """Reads what `to_dict` wrote.

        Raises:
            UserError: another format, unknown or missing parts or fields, or values that are not allowed.
        """
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise UserError(f"config: expected format {FORMAT}; it is damaged or of another version")
        if set(document) != {"format", *PARTS}:
            raise UserError(f"config: unknown or missing parts: {sorted(set(document) ^ {'format', *PARTS})}")
        parts: dict[str, Any] = {name: part.from_dict(document[name]) for name, part in PARTS.items()}
        return cls(**parts)


PARTS: dict[str, type[Settings]] = {part.part: part for part in (TextSettings, ModelSettings, TrainingSettings)}
