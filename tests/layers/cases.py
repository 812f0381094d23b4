"""What each layer is made from, called with, and has to return: the cases of `test_contract.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from chatbot.config import ModelSettings
from chatbot.layers.answer_memory import AnswerMemory
from chatbot.layers.attention import MultiHeadAttention, ScaledDotProductAttention
from chatbot.layers.autoregressive_encoder import AutoregressiveEncoder
from chatbot.layers.decoder import Decoder, DecoderLayer
from chatbot.layers.encoder import Encoder, EncoderLayer
from chatbot.layers.feed_forward import FeedForward
from chatbot.layers.ngram_bag import NgramBag
from chatbot.layers.positional_encoding import PositionalEncoding
from chatbot.layers.residual import Residual
from chatbot.layers.token_embedding import TokenEmbedding
from chatbot.transformer.causal import CausalTransformer
from chatbot.transformer.seq2seq import Seq2SeqTransformer

B, S, T, D, H, HEAD = 2, 5, 4, 8, 2, 3
INNER, INTERMEDIATE, VOCABULARY = H * HEAD, 16, 11


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def ids(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(1, VOCABULARY, shape).astype("int32")


ATTENTION_WEIGHTS = 4 * D * INNER + 3 * INNER + D
NORM_WEIGHTS = 2 * D
FEED_FORWARD_WEIGHTS = 2 * D * INTERMEDIATE + INTERMEDIATE + D
ENCODER_LAYER_WEIGHTS = ATTENTION_WEIGHTS + FEED_FORWARD_WEIGHTS + 2 * NORM_WEIGHTS
DECODER_LAYER_WEIGHTS = 2 * ATTENTION_WEIGHTS + FEED_FORWARD_WEIGHTS + 3 * NORM_WEIGHTS
SIZES = {"num_heads": H, "head_dim": HEAD, "intermediate_dim": INTERMEDIATE, "dropout": 0.1, "attention_dropout": 0.2}
MODEL = ModelSettings(
    ngram_buckets=9, question_dropout=0.0, hidden_dim=D, num_encoder_layers=2, num_decoder_layers=2, norm="pre", **SIZES
)
SIZES_A = {**SIZES, "head_dim": D // H, "output_projection": False, "share_norm": True, "epsilon": 1e-5}
LAYER_WEIGHTS_A = 3 * (D * D + D) + FEED_FORWARD_WEIGHTS + NORM_WEIGHTS
SEPARATE = {"tie_embeddings": False, "scale_embeddings": False}
MODEL_A = MODEL.with_architecture("decoder-only").replace(**SIZES_A, **SEPARATE, norm="post")

Case = tuple[Callable[[], Any], tuple[Any, ...], Any, int]
"""How to make it, what it is called with, the shapes that it returns, the number of its weights."""

CASES: dict[str, Case] = {
    "ScaledDotProductAttention": (
        lambda: ScaledDotProductAttention(0.1),
        (floats(B, H, T, HEAD), floats(B, H, S, HEAD), floats(B, H, S, HEAD)),
        [(B, H, T, HEAD), (B, H, T, S)],
        0,
    ),
    "MultiHeadAttention": (
        lambda: MultiHeadAttention(H, HEAD, dropout=0.1),
        (floats(B, T, D),),
        [(B, T, D), (B, H, T, T), (B, H, T, HEAD), (B, H, T, HEAD)],
        ATTENTION_WEIGHTS,
    ),
    "MultiHeadAttention, no biases": (
        lambda: MultiHeadAttention(H, HEAD, use_bias=False),
        (floats(B, T, D),),
        [(B, T, D), (B, H, T, T), (B, H, T, HEAD), (B, H, T, HEAD)],
        4 * D * INNER,
    ),
    "MultiHeadAttention, no output projection": (
        lambda: MultiHeadAttention(H, D // H, output_projection=False),
        (floats(B, T, D),),
        [(B, T, D), (B, H, T, T), (B, H, T, D // H), (B, H, T, D // H)],
        3 * (D * D + D),
    ),
    "MultiHeadAttention, memory": (
        lambda: MultiHeadAttention(H, HEAD, cross_attention=True),
        (floats(B, T, D), floats(B, S, D)),
        [(B, T, D), (B, H, T, S), (B, H, S, HEAD), (B, H, S, HEAD)],
        ATTENTION_WEIGHTS,
    ),
    "PositionalEncoding": (PositionalEncoding, (floats(B, T, D),), [(B, T, D)], 0),
    "FeedForward": (lambda: FeedForward(INTERMEDIATE), (floats(B, T, D),), [(B, T, D)], FEED_FORWARD_WEIGHTS),
    "FeedForward, dropout": (
        lambda: FeedForward(INTERMEDIATE, 0.3),
        (floats(B, T, D),),
        [(B, T, D)],
        FEED_FORWARD_WEIGHTS,
    ),
    "Residual, post": (lambda: Residual("post", 0.1), (floats(B, T, D), floats(B, T, D)), [(B, T, D)], NORM_WEIGHTS),
    "Residual, pre": (lambda: Residual("pre", 0.1), (floats(B, T, D), floats(B, T, D)), [(B, T, D)], NORM_WEIGHTS),
    "TokenEmbedding": (lambda: TokenEmbedding(VOCABULARY, D), (ids(B, T),), [(B, T, D)], VOCABULARY * D),
    "TokenEmbedding, plain": (
        lambda: TokenEmbedding(VOCABULARY, D, scale=False, zero_padding=True),
        (ids(B, T),),
        [(B, T, D)],
        VOCABULARY * D,
    ),
    "NgramBag": (lambda: NgramBag(VOCABULARY, 9, D, 0.3), (ids(B, S),), [(B, 1, D)], 9 * D + VOCABULARY * 22),
    "AnswerMemory": (lambda: AnswerMemory(7), (floats(B, 1, D),), [(B, 1, D), (B, 1, 7)], 2 * 7 * D),
    "EncoderLayer": (
        lambda: EncoderLayer(**SIZES),
        (floats(B, S, D),),
        [(B, S, D), (B, H, S, S), *[(B, H, S, HEAD)] * 2],
        ENCODER_LAYER_WEIGHTS,
    ),
    "EncoderLayer, one norm": (
        lambda: EncoderLayer(**SIZES_A),
        (floats(B, S, D),),
        [(B, S, D), (B, H, S, S), *[(B, H, S, D // H)] * 2],
        LAYER_WEIGHTS_A,
    ),
    "Encoder": (
        lambda: Encoder(2, SIZES),
        (floats(B, S, D),),
        [(B, S, D), (B, 2, H, S, S), *[(B, H, S, HEAD)] * 4],
        2 * ENCODER_LAYER_WEIGHTS,
    ),
    "Encoder, pre": (
        lambda: Encoder(2, {**SIZES, "norm": "pre"}, final_norm=True),
        (floats(B, S, D),),
        [(B, S, D), (B, 2, H, S, S), *[(B, H, S, HEAD)] * 4],
        2 * ENCODER_LAYER_WEIGHTS + NORM_WEIGHTS,
    ),
    "AutoregressiveEncoder": (
        lambda: AutoregressiveEncoder(2, SIZES_A, dropout=0.1),
        (floats(B, S, D),),
        [(B, S, D), (B, 2, H, S, S), *[(B, H, S, D // H)] * 4],
        2 * LAYER_WEIGHTS_A,
    ),
    "DecoderLayer": (
        lambda: DecoderLayer(**SIZES),
        (floats(B, T, D), floats(B, S, D)),
        [(B, T, D), (B, H, T, S), *[(B, H, S, HEAD)] * 2, *[(B, H, T, HEAD)] * 2],
        DECODER_LAYER_WEIGHTS,
    ),
    "Decoder": (
        lambda: Decoder(2, {**SIZES, "norm": "pre"}, final_norm=True),
        (floats(B, T, D), floats(B, S, D)),
        [(B, T, D), (B, 2, H, T, S), *([*[(B, H, S, HEAD)] * 2, *[(B, H, T, HEAD)] * 2] * 2)],
        2 * DECODER_LAYER_WEIGHTS + NORM_WEIGHTS,
    ),
    "Seq2SeqTransformer, plain": (
        lambda: Seq2SeqTransformer(VOCABULARY, 7, MODEL.replace(answer_memory=False)),
        ({"question_ids": ids(B, S), "answer_ids": ids(B, T)},),
        [(B, T, VOCABULARY)],
        VOCABULARY * D + 2 * (ENCODER_LAYER_WEIGHTS + DECODER_LAYER_WEIGHTS + NORM_WEIGHTS),
    ),
    "Seq2SeqTransformer": (
        lambda: Seq2SeqTransformer(VOCABULARY, 7, MODEL),
        ({"question_ids": ids(B, S), "answer_ids": ids(B, T)},),
        [(B, T, VOCABULARY)],
        VOCABULARY * D
        + 2 * (ENCODER_LAYER_WEIGHTS + DECODER_LAYER_WEIGHTS + NORM_WEIGHTS)
        + (MODEL.ngram_buckets * D + VOCABULARY * 22)
        + 2 * 7 * D,
    ),
    "Seq2SeqTransformer, separate tables": (
        lambda: Seq2SeqTransformer(VOCABULARY, 7, MODEL.replace(answer_memory=False, **SEPARATE)),
        ({"question_ids": ids(B, S), "answer_ids": ids(B, T)},),
        [(B, T, VOCABULARY)],
        3 * VOCABULARY * D + VOCABULARY + 2 * (ENCODER_LAYER_WEIGHTS + DECODER_LAYER_WEIGHTS + NORM_WEIGHTS),
    ),
    "CausalTransformer": (
        lambda: CausalTransformer(VOCABULARY, MODEL_A),
        ({"question_ids": ids(B, S), "answer_ids": ids(B, T)},),
        [(B, T, VOCABULARY)],
        2 * VOCABULARY * D + VOCABULARY + 4 * LAYER_WEIGHTS_A,
    ),
}
