"""How many weights a model has, worked out without making it."""

from __future__ import annotations

from chatbot.config import ModelSettings


def count_parameters(settings: ModelSettings, vocabulary_size: int, num_answers: int) -> int:
    """The trainable numbers of a model.

    Args:
        settings: sizes and architecture.
        vocabulary_size: V.
        num_answers: distinct training answers; they count with an answer memory only.
    """
    width = settings.hidden_dim
    inner = settings.num_heads * settings.width_of_head
    bias = int(settings.use_bias)
    normalization = 2 * width
    attention = 3 * (width + bias) * inner + settings.output_projection * (inner + bias) * width
    feed_forward = 2 * width * settings.intermediate_dim + settings.intermediate_dim + width

    def stack(layers: int, attentions: int) -> int:
        normalizations = 1 if settings.share_norm else attentions + 1
        block = attentions * attention + feed_forward + normalizations * normalization
        return layers * block + settings.has_final_norm * normalization

    is_seq2seq = settings.architecture == "encoder-decoder"
    table = vocabulary_size * width
    tables = table if settings.tie_embeddings else (1 + is_seq2seq) * table + (width + bias) * vocabulary_size
    stacks = stack(settings.num_decoder_layers, attentions=1 + is_seq2seq)
    if is_seq2seq:
        stacks += stack(settings.num_encoder_layers, attentions=1)
    memory = settings.answer_memory * (settings.ngram_buckets + 2 * num_answers) * width
    return tables + stacks + memory
