"""Our layers against PyTorch's with the same weights, pre-norm and post-norm.

    python -m benchmarks.torch_layers          wants PyTorch: pip install torch

Prints the largest difference between the outputs of `EncoderLayer` and `torch.nn.TransformerEncoderLayer`, and of
`DecoderLayer` and `torch.nn.TransformerDecoderLayer`, with padding in the question and a causal mask on the answer; exits
with 1 where one is above 1e-5.
"""

from __future__ import annotations

import os
import sys
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["KERAS_BACKEND"] = "tensorflow"

import numpy as np

from chatbot.layers.decoder import DecoderLayer
from chatbot.layers.encoder import EncoderLayer
from chatbot.layers.masks import attend_to, causal_mask

B, S, T, WIDTH, HEADS, INTERMEDIATE = 3, 7, 5, 32, 4, 48
TOLERANCE = 1e-5


def copy_dense(dense: Any, weight: Any, bias: Any) -> None:
    """PyTorch multiplies by the transpose: [out, in]."""
    dense.kernel.assign(weight.detach().numpy().T)
    dense.bias.assign(bias.detach().numpy())


def copy_attention(attention: Any, theirs: Any) -> None:
    """Both fuse query, key and value in this order, heads side by side."""
    weight, bias = theirs.in_proj_weight, theirs.in_proj_bias
    if attention.cross_attention:
        copy_dense(attention.query_projection, weight[:WIDTH], bias[:WIDTH])
        copy_dense(attention.memory_projection, weight[WIDTH:], bias[WIDTH:])
    else:
        copy_dense(attention.self_projection, weight, bias)
    copy_dense(attention.output_projection, theirs.out_proj.weight, theirs.out_proj.bias)


def copy_layer(layer: Any, theirs: Any) -> None:
    """All weights of a layer."""
    copy_attention(layer.self_attention, theirs.self_attn)
    residuals = [layer.self_attention_residual]
    if isinstance(layer, DecoderLayer):
        copy_attention(layer.cross_attention, theirs.multihead_attn)
        residuals.append(layer.cross_attention_residual)
    residuals.append(layer.feed_forward_residual)
    copy_dense(layer.feed_forward.expand, theirs.linear1.weight, theirs.linear1.bias)
    copy_dense(layer.feed_forward.contract, theirs.linear2.weight, theirs.linear2.bias)
    for number, residual in enumerate(residuals, 1):
        norm = getattr(theirs, f"norm{number}")
        residual.normalization.gamma.assign(norm.weight.detach().numpy())
        residual.normalization.beta.assign(norm.bias.detach().numpy())


def largest_difference(kind: str, norm: str) -> float:
    """Between our layer and PyTorch's, on random input and weights."""
    import torch

    torch.manual_seed(0)
    generator = np.random.default_rng(0)
    question = generator.normal(size=(B, S, WIDTH)).astype("float32")
    answer = generator.normal(size=(B, T, WIDTH)).astype("float32")
    real = np.ones((B, S), bool)
    real[0, 4:] = False
    arguments = {"dropout": 0.0, "batch_first": True, "norm_first": norm == "pre", "layer_norm_eps": 1e-6}
    block = {"num_heads": HEADS, "head_dim": WIDTH // HEADS, "intermediate_dim": INTERMEDIATE, "norm": norm}
    make = torch.nn.TransformerEncoderLayer if kind == "encoder" else torch.nn.TransformerDecoderLayer
    theirs = make(WIDTH, HEADS, INTERMEDIATE, **arguments)
    for parameter in theirs.parameters():
        parameter.data.normal_(0, 0.3)
    layer: Any
    if kind == "encoder":
        layer = EncoderLayer(**block)
        layer.build(question.shape)
        copy_layer(layer, theirs)
        ours = layer(question, attention_mask=attend_to(real))[0].numpy()
        expected = theirs(torch.tensor(question), src_key_padding_mask=torch.tensor(~real))
        ours, expected = ours[real], expected.detach().numpy()[real]  # PyTorch leaves padding as it likes
    else:
        layer = DecoderLayer(**block)
        layer.build(answer.shape, question.shape)
        copy_layer(layer, theirs)
        ours = layer(
            answer, memory=question, attention_mask=causal_mask(T, T), memory_mask=attend_to(real)
        )[0].numpy()  # fmt: skip
        later = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
        expected = theirs(
            torch.tensor(answer), torch.tensor(question), tgt_mask=later, memory_key_padding_mask=torch.tensor(~real)
        )
        expected = expected.detach().numpy()
    return float(np.abs(ours - expected).max())


def main() -> int:
    """Prints all four differences."""
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: pip install torch", file=sys.stderr)
        return 2
    print(f"PyTorch {torch.__version__}")
    worst = 0.0
    for kind in ("encoder", "decoder"):
        for norm in ("post", "pre"):
            difference = largest_difference(kind, norm)
            worst = max(worst, difference)
            print(f"{kind} layer, {norm}-norm: largest difference {difference:.1e}")
    return int(worst > TOLERANCE)


if __name__ == "__main__":
    raise SystemExit(main())
