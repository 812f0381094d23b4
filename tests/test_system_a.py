"""The defects of the autoregressive original, each as a test that our version passes.

That loss is averaged per token, and that there is an end piece, generation and saving, is shown by training it for real:
see `tests/cli/test_architectures.py`.
"""

from __future__ import annotations

import keras
import numpy as np
import pytest

from chatbot.answering import answer
from chatbot.errors import UserError
from chatbot.layers.autoregressive_encoder import AutoregressiveEncoder
from chatbot.presets import preset
from chatbot.training.losses import smoothed_cross_entropy
from chatbot.transformer.make import make_transformer

B, L, D = 2, 7, 16
BLOCK = {"num_heads": 4, "head_dim": 4, "intermediate_dim": 32, "output_projection": False, "share_norm": True}


def vectors() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(B, L, D)).astype("float32")


def test_vectors_in_vectors_out() -> None:
    assert L != D, "the original took the width for the length"
    keras.utils.set_random_seed(0)
    layer = AutoregressiveEncoder(2, BLOCK)
    before, _, _ = layer(vectors())
    assert before.shape == (B, L, D)
    changed = vectors()
    changed[:, 4] += 1
    after, _, _ = layer(changed)
    np.testing.assert_array_equal(after[:, :4], before[:, :4])
    assert (np.abs(after - before).max(axis=(0, 2)) > 1e-4)[4:].all()


def test_without_the_causal_mask_it_is_a_plain_encoder() -> None:
    keras.utils.set_random_seed(0)
    layer = AutoregressiveEncoder(2, BLOCK, causal=False)
    before, _, _ = layer(vectors())
    changed = vectors()
    changed[:, -1] += 1
    after, _, _ = layer(changed)
    assert (np.abs(after - before).max(axis=(0, 2)) > 1e-4).all(), "every position sees the last one"


@pytest.mark.parametrize("causal", [True, False])
def test_padding_is_masked_and_a_row_of_it_stays_finite(causal: bool) -> None:
    keras.utils.set_random_seed(0)
    layer = AutoregressiveEncoder(2, BLOCK, causal=causal)
    real = np.ones((B, L), bool)
    real[0], real[1, 4:] = False, False
    output, _, _ = layer(vectors(), padding_mask=real)
    assert np.isfinite(output).all()
    alone, _, _ = layer(vectors()[1:, :4])
    np.testing.assert_allclose(output[1:, :4], alone, atol=1e-5)


def test_padding_in_the_middle_changes_no_position() -> None:
    keras.utils.set_random_seed(0)
    layer = AutoregressiveEncoder(2, BLOCK)
    apart = np.insert(vectors(), [3, 3], 9.0, axis=1)
    real = np.insert(np.ones((B, L), bool), [3, 3], False, axis=1)
    output, _, _ = layer(apart, padding_mask=real)
    together, _, _ = layer(vectors())
    np.testing.assert_allclose(output.numpy()[:, [0, 1, 2, 5, 6, 7, 8]], together, atol=1e-5)


def test_heads_that_do_not_add_up_to_the_width_are_refused() -> None:
    with pytest.raises(UserError, match="heads must add up to hidden_dim 512, not to 256"):
        preset("base-decoder-only").replace(head_dim=32)


def test_loss_is_per_token_not_per_batch() -> None:
    logits = np.random.default_rng(0).normal(size=(3, L, 9)).astype("float32")
    targets = np.random.default_rng(1).integers(1, 9, (3, L))
    targets[0, 1:], targets[1, 5:] = 0, 0
    whole = smoothed_cross_entropy(logits, targets, 0.0)
    parts = [smoothed_cross_entropy(logits[row : row + 1], targets[row : row + 1], 0.0) for row in range(3)]
    mean = sum(float(part.loss) for part in parts) / sum(float(part.tokens) for part in parts)
    assert np.isclose(float(whole.loss) / float(whole.tokens), mean)
    assert not np.isclose(np.mean([float(part.loss) / float(part.tokens) for part in parts]), mean)


def test_a_language_model_continues_each_line_whatever_stands_beside_it() -> None:
    keras.utils.set_random_seed(0)
    settings = preset("base-decoder-only").replace(hidden_dim=D, num_heads=4, intermediate_dim=32, num_decoder_layers=2)
    model = make_transformer(30, 1, settings)
    lines = np.random.default_rng(2).integers(4, 30, (4, 6)).astype("int32")
    lines[1, 2:], lines[2, 1:] = 0, 0
    together = answer(model, "language-model", lines, 9).ids.numpy()
    for row in range(4):
        line = lines[row][lines[row] != 0][None]
        np.testing.assert_array_equal(answer(model, "language-model", line, 9).ids.numpy()[0], together[row])
        ids = [2, *line[0]]  # and as a full pass over start piece, line and what was chosen so far says
        for chosen in together[row]:
            logits = model.forward(np.zeros((1, 0), "int32"), np.array([ids], "int32")).logits.numpy()[0, -1]
            logits[:3] = -np.inf
            assert chosen == logits.argmax()
            if chosen == 3:
                break
            ids.append(chosen)
