"""The export proven by destroying what it came from."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

from chatbot import Responder
from chatbot.artifact import find_export, pad_morphemes, read_extra
from chatbot.errors import UserError
from chatbot.responder import Notice, _notices
from chatbot.text.analyzer import OktAnalyzer
from chatbot.text.pieces import rejoin
from chatbot.text.pipeline import TextPipeline
from tests.conftest import ROOT, TWENTY, Trained

PLAIN_TENSORFLOW = """
import json, sys
import tensorflow as tf
assert not any(name.startswith("chatbot") for name in sys.modules)
serve = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
found = serve(morphemes=tf.constant(json.load(sys.stdin)))
print(json.dumps([reply.decode() for reply in found["reply"].numpy()]))
"""


@pytest.fixture(scope="module")
def moved(twenty: Trained, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the export somewhere else, with the run directory out of reach."""
    target = tmp_path_factory.mktemp("served") / "1"
    shutil.copytree(twenty.export, target)
    twenty.run.rename(twenty.run.with_name("gone"))
    yield target
    twenty.run.with_name("gone").rename(twenty.run)


@pytest.fixture(scope="module")
def responder(moved: Path) -> Responder:
    return Responder.load(moved)


@pytest.fixture(scope="module")
def morphemes(moved: Path, okt: OktAnalyzer) -> list[list[str]]:
    manifest, vocabulary = read_extra(moved)
    pipeline = TextPipeline(okt, vocabulary, manifest.text.max_question_length or 1)
    return pad_morphemes([question.pieces for question in pipeline.questions([question for question, _ in TWENTY])])


def test_plain_tensorflow_in_a_new_process_gives_the_answers(moved: Path, morphemes: list[list[str]], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", PLAIN_TENSORFLOW, str(moved)],
        input=json.dumps(morphemes).encode(),
        capture_output=True,
        cwd=tmp_path,
        check=True,
        timeout=300,
    )
    assert json.loads(done.stdout) == [answer for _, answer in TWENTY]


def test_saved_model_cli_gives_the_same(moved: Path, morphemes: list[list[str]], tmp_path: Path) -> None:
    row = [piece for piece in morphemes[1] if piece]
    done = subprocess.run(
        [
            *(Path(sys.executable).with_name("saved_model_cli"), "run", "--dir", moved, "--tag_set", "serve"),
            *("--signature_def", "serving_default", "--input_exprs", f"morphemes={[row]!r}", "--outdir", tmp_path),
        ],
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert np.load(tmp_path / "reply.npy", allow_pickle=True)[0].decode() == TWENTY[1][1]


def test_no_python_function_is_in_the_graph(moved: Path) -> None:
    saved = SavedModel()
    saved.ParseFromString((moved / "saved_model.pb").read_bytes())
    (graph,) = saved.meta_graphs
    nodes = {node.op for node in graph.graph_def.node}
    nodes |= {node.op for function in graph.graph_def.library.function for node in function.node_def}
    assert "MatMul" in nodes or "BatchMatMulV2" in nodes
    assert not nodes & {"PyFunc", "EagerPyFunc", "PyFuncStateless", "NumpyFunction"}


def test_every_weight_is_saved_once(moved: Path, twenty: Trained) -> None:
    reader = tf.train.load_checkpoint(str(moved / "variables" / "variables"))
    saved = sum(math.prod(shape) for name, shape in reader.get_variable_to_shape_map().items() if "OBJECT_GRAPH" not in name)
    checkpoint = sorted((twenty.run.with_name("gone") / "checkpoints").glob("select-*"))[-1]
    names = json.loads((checkpoint / "state.json").read_text())["names"]
    with np.load(checkpoint / "variables.npz") as arrays:
        weights = sum(arrays[f"{index:05d}"].size for index, name in enumerate(names) if name.startswith("transformer/"))
    assert weights <= saved <= 1.01 * weights


def test_signatures_are_as_documented(moved: Path) -> None:
    signatures = tf.saved_model.load(str(moved)).signatures
    serve, explain = signatures["serving_default"], signatures["explain"]
    assert set(serve.structured_input_signature[1]) == {"morphemes"}
    assert serve.structured_input_signature[1]["morphemes"].shape.as_list() == [None, None]
    assert set(serve.structured_outputs) == {"reply", "reply_morphemes", "log_probability", "confidence"}
    assert set(explain.structured_input_signature[1]) == {"morphemes", "reply_morphemes"}
    assert set(explain.structured_outputs) == {"log_probabilities", "cross_attention"}


def test_the_graph_rejoins_like_python(responder: Responder, morphemes: list[list[str]]) -> None:
    output = responder._serve(morphemes=tf.constant(morphemes))
    rows = [[piece.decode() for piece in row] for row in output["reply_morphemes"].numpy()]
    assert [rejoin(row) for row in rows] == [reply.decode() for reply in output["reply"].numpy()]
    assert all("<" not in "".join(row) for row in rows)


def test_explain_agrees_with_the_search(responder: Responder, morphemes: list[list[str]]) -> None:
    found = responder._serve(morphemes=tf.constant(morphemes))
    explained = responder._model.signatures["explain"](
        morphemes=tf.constant(morphemes), reply_morphemes=found["reply_morphemes"]
    )
    log_probabilities = explained["log_probabilities"].numpy()
    np.testing.assert_allclose(log_probabilities.sum(axis=1), found["log_probability"], atol=1e-4)
    lengths = [sum(bool(piece) for piece in row) for row in found["reply_morphemes"].numpy()]
    for row, length in zip(log_probabilities, lengths, strict=True):
        assert np.all(row[: length + 1] < 0)
        assert np.all(row[length + 1 :] == 0)
    batch, steps = found["reply_morphemes"].shape
    attention = explained["cross_attention"].numpy()
    assert attention.shape[0] == batch
    assert attention.shape[3:] == (steps, len(morphemes[0]))
    assert np.all(attention >= 0)
    assert np.all(attention.sum(axis=-1) <= 1 + 1e-5), "the rest went to the recalled answer"
    assert attention.max() > 0.05
    padding = np.array([[not piece for piece in row] for row in morphemes])
    assert np.all(
        attention[padding[:, None, None, None, :].repeat(attention.shape[1], 1).repeat(attention.shape[2], 2).repeat(steps, 3)]
        == 0
    )


def test_padding_and_batch_mates_change_nothing_in_the_export_either(responder: Responder, morphemes: list[list[str]]) -> None:
    together = responder._serve(morphemes=tf.constant([[*row, "", "", ""] for row in morphemes]))
    for index in (0, 7, 19):
        row = [piece for piece in morphemes[index] if piece]
        alone = responder._serve(morphemes=tf.constant([row]))
        assert alone["reply"].numpy()[0] == together["reply"].numpy()[index]
        np.testing.assert_allclose(alone["log_probability"][0], together["log_probability"][index], atol=1e-4)


def test_cached_greedy_equals_naive_greedy_after_training(responder: Responder, morphemes: list[list[str]]) -> None:
    """The full-prefix loop of the tutorials, through the `explain` signature, picks the same piece at every place."""
    found = responder._serve(morphemes=tf.constant(morphemes))
    chosen = found["reply_morphemes"].numpy()
    explain = responder._model.signatures["explain"]
    base = explain(morphemes=tf.constant(morphemes), reply_morphemes=tf.constant(chosen))["log_probabilities"].numpy()
    vocabulary = [piece.encode() for piece in responder.pipeline.vocabulary.pieces[4:]]
    generator = np.random.default_rng(0)
    for place in range(6):
        other = chosen.copy()
        other[:, place] = generator.choice(vocabulary, len(chosen))
        rivals = explain(morphemes=tf.constant(morphemes), reply_morphemes=tf.constant(other))["log_probabilities"].numpy()
        assert np.all(base[:, :place] == rivals[:, :place]), "and a later piece changes nothing before it"
        is_real = chosen[:, place] != b""
        assert np.all(base[is_real, place] >= rivals[is_real, place] - 1e-6)


def test_responder_answers_to_the_byte(responder: Responder) -> None:
    for question, answer in TWENTY:
        assert responder.reply(question).text == answer
    assert [reply.text for reply in responder.replies([question for question, _ in TWENTY])] == [answer for _, answer in TWENTY]


def test_replies_keep_their_places_among_blank_lines(responder: Responder) -> None:
    replies = responder.replies(["", "안녕", " \u200b", "심심해"])
    assert [reply.text for reply in replies] == ["", TWENTY[0][1], "", TWENTY[2][1]]
    assert replies[0].notices == (Notice.BLANK_QUESTION,)
    assert replies[1].notices == ()


@pytest.mark.parametrize(
    ("question", "notice"),
    [("가나다라 " * 500, Notice.CUT_QUESTION), ("鬱", Notice.NOTHING_KNOWN)],
)
def test_notices(responder: Responder, question: str, notice: Notice) -> None:
    assert notice in responder.reply(question).notices


@pytest.mark.parametrize("question", ["<end>", "<start> <padding>", "▁", "\ud800", "a\x00b\x1b[31m", "가" * 3000, "👨\u200d👩"])
def test_whatever_is_asked_gets_a_line(responder: Responder, question: str) -> None:
    text = responder.reply(question).text
    assert text
    assert text.isprintable()


def test_several_threads_get_the_same(responder: Responder) -> None:
    questions = [question for question, _ in TWENTY] * 10
    with ThreadPoolExecutor(16) as pool:
        assert [reply.text for reply in pool.map(responder.reply, questions)] == [answer for _, answer in TWENTY] * 10


def test_the_cap_on_length_is_told(responder: Responder) -> None:
    question = responder.pipeline.questions(["안녕"])[0]
    assert _notices(question, is_cut=True) == (Notice.CUT_REPLY,)
    assert _notices(question, is_cut=False) == ()


def copy_of(export: Path, target: Path) -> Path:
    shutil.copytree(export, target)
    return target


def files_of(export: Path) -> list[str]:
    return sorted(path.relative_to(export).as_posix() for path in export.rglob("*") if path.is_file())


@pytest.mark.parametrize("damage", ["truncate", "empty", "remove", "flip"])
def test_each_damaged_file_is_refused_by_name(moved: Path, tmp_path: Path, damage: str) -> None:
    names = files_of(moved)
    assert {"saved_model.pb", "assets.extra/vocabulary.json", "assets.extra/manifest.json"} <= set(names)
    for name in names:
        broken = copy_of(moved, tmp_path / damage / name.replace("/", "_"))
        file, content = broken / name, bytearray((broken / name).read_bytes())
        if damage == "remove":
            file.unlink()
        elif damage == "flip":
            content[len(content) // 3] ^= 0x10
            file.write_bytes(content)
        else:
            file.write_bytes(content[: len(content) // 2] if damage == "truncate" else b"")
        with pytest.raises(UserError, match=r"missing|damaged|neither") as refused:
            read_extra(find_export(broken))
        assert name.split("/")[-1] in str(refused.value) or str(broken) in str(refused.value)


def test_files_of_another_run_are_refused(moved: Path, tmp_path: Path) -> None:
    broken = copy_of(moved, tmp_path / "swapped")
    vocabulary = json.loads((broken / "assets.extra/vocabulary.json").read_text())
    pieces = vocabulary["pieces"]
    pieces[10], pieces[11] = pieces[11], pieces[10]
    (broken / "assets.extra/vocabulary.json").write_text(json.dumps(vocabulary))
    with pytest.raises(UserError, match=r"vocabulary\.json: damaged, or from another export"):
        read_extra(broken)


def test_a_path_that_is_something_else_is_told_what_is_needed(twenty: Trained, moved: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such directory"):
        find_export(tmp_path / "missing")
    with pytest.raises(UserError, match="neither an export"):
        find_export(tmp_path)
    (tmp_path / "begun" / "checkpoints").mkdir(parents=True)
    with pytest.raises(UserError, match="not finished; run the same"):
        find_export(tmp_path / "begun")
    assert find_export(moved) == moved


def test_a_script_with_a_responder_ends(moved: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from chatbot import Responder\n"
        "responder = Responder.load(sys.argv[1])\n"
        "print(responder.reply('안녕').text, flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(moved)], capture_output=True, cwd=ROOT, timeout=120, check=False)
    assert done.stdout.decode() == TWENTY[0][1] + "\n"
    assert done.returncode == 0
