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

FORMAT = 2
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
    """What a line of data is, and how strings become ids."""

    part: ClassVar[str] = "text"

    task: str = _setting(
        "chat",
        "chat: answer questions; language-model: continue lines of plain text",
        ("chat", "language-model"),
        common=True,
    )
    analyzer: str = _setting(
        "okt",
        "what splits text into morphemes; a language model's is character unless named",
        ("okt", "character"),
        common=True,
    )
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

    architecture: str = _setting(
        "encoder-decoder",
        "one stack for the question and one for the answer, or one for both",
        ("encoder-decoder", "decoder-only"),
        common=True,
    )
    norm: str = _setting(
        "pre", "normalise behind each residual sum (post) or in front of each sublayer (pre)", ("post", "pre"), common=True
    )
    hidden_dim: int = _setting(256, "width of the vectors between layers", minimum=2)
    num_heads: int = _setting(8, "attention heads", minimum=1)
    head_dim: int | None = _setting(None, "width of a head (default: hidden_dim / num_heads)", minimum=1)
    num_encoder_layers: int = _setting(2, "layers that read the question; 0 with decoder-only", minimum=0)
    num_decoder_layers: int = _setting(2, "layers that write the answer", minimum=1)
    intermediate_dim: int = _setting(512, "width inside the feed-forward part", minimum=1)
    answer_memory: bool = _setting(True, "recall the likeliest known answer as one more place that the decoder looks at")
    ngram_buckets: int = _setting(16384, "vectors for letter groups of questions, by which answers are recalled", minimum=1)
    question_dropout: float = _setting(
        0.5, "share of questions hidden from the decoder in training, so that it writes what was recalled", minimum=0
    )
    ngram_dropout: float = _setting(0.2, "share of these letter groups dropped in training", minimum=0)
    dropout: float = _setting(0.1, "share of values dropped in training, from sublayers and embeddings", minimum=0)
    attention_dropout: float = _setting(0.1, "share of attention weights dropped in training", minimum=0)
    feed_forward_dropout: float = _setting(0.0, "share of values dropped in training inside the feed-forward part", minimum=0)
    tie_embeddings: bool = _setting(True, "one table for questions, answers and logits, not one each")
    scale_embeddings: bool = _setting(True, "multiply embeddings by the root of hidden_dim")
    zero_padding: bool = _setting(False, "embed padding as zeros")
    use_bias: bool = _setting(True, "biases in the projections of attention and of untied logits")
    output_projection: bool = _setting(True, "a last matrix behind the joined heads")
    share_norm: bool = _setting(False, "one normalisation for all sublayers of a layer, not one each")
    final_norm: bool | None = _setting(None, "normalise behind the last layer (default: with pre-norm)")
    epsilon: float = _setting(1e-6, "added to the variance in normalisations", minimum=1e-12)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden_dim % 2:
            raise UserError(f"hidden_dim must be even (sines and cosines in pairs), not {self.hidden_dim}")
        if self.head_dim is None and self.hidden_dim % self.num_heads:
            raise UserError(f"hidden_dim {self.hidden_dim} must be a multiple of num_heads {self.num_heads}; or give head_dim")
        for name in ("dropout", "attention_dropout", "feed_forward_dropout", "question_dropout", "ngram_dropout"):
            if getattr(self, name) >= 1:
                raise UserError(f"{name} must be below 1, not {getattr(self, name)}")
        self._check_architecture()

    def _check_architecture(self) -> None:
        heads = self.num_heads * self.width_of_head
        if self.architecture == "decoder-only" and (self.num_encoder_layers or self.answer_memory):
            raise UserError("a decoder-only model has num_encoder_layers 0 and no answer_memory, which an encoder would ask")
        if self.architecture == "encoder-decoder" and not self.num_encoder_layers:
            raise UserError("num_encoder_layers must be at least 1 with architecture encoder-decoder")
        if not self.output_projection and heads != self.hidden_dim:
            raise UserError(f"without output_projection the heads must add up to hidden_dim {self.hidden_dim}, not to {heads}")
        if self.tie_embeddings and not self.scale_embeddings:
            raise UserError("scale_embeddings false needs tie_embeddings false: one table cannot serve both at two scales")

    @property
    def width_of_head(self) -> int:
        """d: `head_dim`, or what it is by default."""
        return self.head_dim or self.hidden_dim // self.num_heads

    @property
    def has_final_norm(self) -> bool:
        """`final_norm`, or what it is by default."""
        return self.norm == "pre" if self.final_norm is None else self.final_norm

    def with_architecture(self, architecture: str) -> ModelSettings:
        """The same sizes in another architecture, with as many layers in all."""
        if architecture == self.architecture:
            return self
        if architecture == "decoder-only":
            layers = self.num_encoder_layers + self.num_decoder_layers
            return self.replace(architecture=architecture, num_encoder_layers=0, num_decoder_layers=layers, answer_memory=False)
        encoder = max(1, self.num_decoder_layers // 2)
        decoder = max(1, self.num_decoder_layers - encoder)
        return self.replace(architecture=architecture, num_encoder_layers=encoder, num_decoder_layers=decoder)


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

    def __post_init__(self) -> None:
        if self.text.task == "language-model" and self.model.architecture != "decoder-only":
            raise UserError("a language model reads one sequence: task language-model needs architecture decoder-only")

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
