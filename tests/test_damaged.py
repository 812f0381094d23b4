"""Each file of an export and of a run, damaged in every way: refused by name, or the right answer."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chatbot.artifact import ANSWERS, MANIFEST, SAVED_MODEL, VOCABULARY, KnownAnswers, read_extra, read_manifest, write_extra
from chatbot.errors import UserError
from chatbot.sealed import parse_json, seal, unseal
from chatbot.text.vocabulary import Vocabulary
from chatbot.training.run_directory import RunDirectory
from tests.conftest import ROOT, TWENTY, Trained, run_program, write_pairs

NO_TENSORFLOW = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in ('tensorflow', 'keras'):
            raise SystemExit('heavy import: ' + name)
sys.meta_path.insert(0, Refuse())
"""


def flip(content: bytes, offset: int, bit: int = 0) -> bytes:
    return content[:offset] + bytes([content[offset] ^ 1 << bit]) + content[offset + 1 :]


def offsets(length: int, count: int = 8) -> list[int]:
    """The first byte, the last, and some between."""
    return sorted({index * (length - 1) // (count - 1) for index in range(count)})


def damages(content: bytes) -> Iterator[tuple[str, bytes]]:
    yield "emptied", b""
    for length in (1, len(content) // 2, len(content) - 1):
        yield f"cut to {length}", content[:length]
    yield "with a byte more", content + b"\0"
    yield "zeros", bytes(len(content))
    for offset in offsets(len(content)):
        yield f"flipped at {offset}", flip(content, offset, offset % 8)


@pytest.fixture(scope="module")
def copied(twenty: Trained, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the export that every test here damages and mends again."""
    return Path(shutil.copytree(twenty.export, tmp_path_factory.mktemp("damaged") / "export"))


@pytest.fixture(scope="module")
def foreign(copied: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export of another training, whole in itself: every one of its files differs."""
    manifest, vocabulary = read_extra(copied)
    other = Path(shutil.copytree(copied, tmp_path_factory.mktemp("foreign") / "export"))
    for path in [path for path in other.rglob("*") if path.is_file()]:
        path.write_bytes(path.read_bytes() + b"\n")
    (other / MANIFEST).unlink()
    pieces = [*vocabulary.pieces[:-2], vocabulary.pieces[-1], vocabulary.pieces[-2]]
    write_extra(other, Vocabulary(pieces), manifest.text, KnownAnswers(("다른 대답",)), {})
    read_extra(other)
    return other


def files_of(export: Path) -> list[str]:
    return sorted(path.relative_to(export).as_posix() for path in export.rglob("*") if path.is_file())


def assert_refused_by_name(export: Path, name: str, how: str) -> None:
    with pytest.raises(UserError) as refused:
        read_extra(export)
    message = str(refused.value)
    assert name in message, how
    assert "\n" not in message


def test_every_file_of_an_export_damaged_in_every_way(copied: Path) -> None:
    names = files_of(copied)
    assert {SAVED_MODEL, VOCABULARY, ANSWERS, MANIFEST} < set(names)
    assert set(read_manifest(copied).files) | {MANIFEST} == set(names), "no file is without a digest"
    for name in names:
        file, content = copied / name, (copied / name).read_bytes()
        for how, damaged in damages(content):
            if damaged == content.rstrip():
                continue  # JSON without the line break at its end says the same
            file.write_bytes(damaged)
            assert_refused_by_name(copied, name, f"{name} {how}")
        file.unlink()
        assert_refused_by_name(copied, name, f"{name} removed")
        file.mkdir()
        assert_refused_by_name(copied, name, f"{name} is a directory")
        file.rmdir()
        file.write_bytes(content)
    read_extra(copied)


def test_a_file_of_another_export_is_refused(copied: Path, foreign: Path) -> None:
    for name in files_of(copied):
        file, content = copied / name, (copied / name).read_bytes()
        file.write_bytes((foreign / name).read_bytes())
        with pytest.raises(UserError, match="damaged, or from another export"):
            read_extra(copied)
        file.write_bytes(content)


@pytest.mark.parametrize("bits", [1, pytest.param(8, marks=pytest.mark.stress)])
def test_no_bit_of_the_manifest_can_change_what_it_says(copied: Path, bits: int) -> None:
    """Nobody else guards its text settings, threshold and versions: it carries a digest over its own content."""
    path, wanted = copied / MANIFEST, read_manifest(copied)
    content = path.read_bytes()
    document = unseal(parse_json(content))
    passed = 0
    for offset, bit in [(offset, (offset + bit) % 8) for offset in range(len(content)) for bit in range(bits)]:
        path.write_bytes(flip(content, offset, bit))
        try:
            found = read_manifest(copied)
        except UserError:
            continue
        assert found == wanted
        assert unseal(parse_json(path.read_bytes())) == document
        passed += 1
    path.write_bytes(content)
    assert passed < len(content) * bits // 4, "only white space, or the name of the seal, may change"


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b"null", b"[]", b"{}", b"9" * 5_000, b"\xff\xfe", b'{"format": 2}', b"NaN"]
)
def test_a_manifest_that_is_something_else(copied: Path, content: bytes) -> None:
    path, original = copied / MANIFEST, (copied / MANIFEST).read_bytes()
    path.write_bytes(content)
    assert_refused_by_name(copied, MANIFEST, repr(content[:20]))
    path.write_bytes(original)


def test_a_saved_model_of_somebody_else_is_refused(copied: Path, tmp_path: Path) -> None:
    shutil.copy(copied / SAVED_MODEL, tmp_path / SAVED_MODEL)
    assert_refused_by_name(tmp_path, MANIFEST, "no manifest")


def test_a_manifest_from_before_there_were_seals_is_read(copied: Path) -> None:
    path, content, wanted = copied / MANIFEST, (copied / MANIFEST).read_bytes(), read_manifest(copied)
    path.write_text(json.dumps(unseal(json.loads(content))))
    assert read_manifest(copied) == wanted
    path.write_bytes(content)


def test_checking_costs_no_time_that_anybody_notices(copied: Path) -> None:
    read_extra(copied)
    begin = time.perf_counter()
    read_extra(copied)
    size = sum(path.stat().st_size for path in copied.rglob("*") if path.is_file())
    assert time.perf_counter() - begin < 0.05 + size / 50e6, "50 MB/s is what the slowest laptop reaches"


def manifest_digest(export: Path) -> str:
    return hashlib.sha256((export / MANIFEST).read_bytes()).hexdigest()


def test_train_and_export_print_the_digest_that_pins(twenty: Trained, tmp_path: Path) -> None:
    printed = f"(sha256 of its manifest: {manifest_digest(twenty.export)})"
    assert printed in twenty.log
    done = run_program("-m", "chatbot", "export", twenty.run, "--output", tmp_path / "served")
    assert printed in done.stderr.decode()


def test_a_pinned_model_is_the_only_one_that_is_loaded(copied: Path, foreign: Path, tmp_path: Path) -> None:
    digest = manifest_digest(copied)
    assert read_extra(copied, digest)[0] == read_extra(copied, digest.upper())[0]
    (tmp_path / "sitecustomize.py").write_text(NO_TENSORFLOW)
    for arguments, wanted in [(["--sha256", digest], MANIFEST), (["--sha256", "abc"], "64 hexadecimal digits")]:
        done = run_program(ROOT / "chat.py", foreign, "--once", "안녕", *arguments, PYTHONPATH=str(tmp_path))
        assert (done.returncode, done.stdout) == (2, b"")
        (line,) = done.stderr.decode().splitlines()
        assert line.startswith("error: ")
        assert wanted in line


def test_a_measurement_takes_the_pin_too(foreign: Path, tmp_path: Path) -> None:
    data = write_pairs(tmp_path / "test.csv", TWENTY[:2])
    done = run_program("-m", "chatbot", "evaluate", foreign, "--data", data, "--sha256", "0" * 64)
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("error: ")
    assert MANIFEST in line


def test_a_responder_takes_the_pin_too(foreign: Path) -> None:
    from chatbot import Responder

    with pytest.raises(UserError, match="SHA-256"):
        Responder.load(foreign, sha256="0" * 64)


@pytest.mark.parametrize("read", [parse_json, lambda data: unseal(parse_json(data))])
def test_whatever_is_no_document_is_a_value_error(read: Callable[[bytes], object]) -> None:
    sealed = json.dumps(seal({"a": 1, "b": [None, 0.5, "가"]})).encode()
    assert unseal(parse_json(sealed)) == {"a": 1, "b": [None, 0.5, "가"]}
    for bad in (b"", b"{", b"\xff", b"[" * 100_000, sealed[:-1], b"\xef\xbb\xbf{}"):
        with pytest.raises(ValueError):  # noqa: PT011 - of whatever kind
            read(bad)


def test_a_damaged_vocabulary_is_refused_or_the_same(twenty: Trained) -> None:
    """That of a run is read by --init-from, where no manifest stands above it."""
    content = (twenty.run / "vocabulary.json").read_bytes()
    wanted = Vocabulary.from_json(content.decode()).pieces
    for offset in range(len(content)):
        try:
            assert Vocabulary.from_json(flip(content, offset, offset % 8).decode()).pieces == wanted
        except (UserError, UnicodeDecodeError):
            continue


def copy_run(run: Path, target: Path) -> RunDirectory:
    """A copy of the small files of a run."""
    target.mkdir()
    for name in ("config.json", "history.jsonl", "samples.txt", "vocabulary.json"):
        shutil.copy(run / name, target / name)
    return RunDirectory(target)


def test_no_bit_of_a_run_s_config_can_change_what_it_says(twenty: Trained, tmp_path: Path) -> None:
    run = copy_run(twenty.run, tmp_path / "run")
    path, wanted = run.path / "config.json", run.read_config()
    content = path.read_bytes()
    for how, damaged in [
        *damages(content),
        *((f"flipped at {offset}", flip(content, offset, offset % 8)) for offset in range(0, len(content), 4)),
        *((repr(other), other) for other in (b"[]", b"{}", b"[" * 100_000, b"null", b'{"config": 1}')),
    ]:
        path.write_bytes(damaged)
        try:
            found = run.read_config()
        except UserError:
            continue
        # Where the name of the seal was hit, one name is new, and all else is as it was.
        assert wanted == {name: value for name, value in found.items() if name in wanted}, how


def test_a_damaged_history_is_kept_as_far_as_it_goes(twenty: Trained, tmp_path: Path) -> None:
    run = copy_run(twenty.run, tmp_path / "run")
    path = run.path / "history.jsonl"
    content = path.read_bytes()
    for _, damaged in [*damages(content), ("other", b"5\n"), ("other", b"[" * 100_000), ("other", b'{"phase": []}\n')]:
        path.write_bytes(damaged)
        run.forget_after("select", 10**9)
        for line in path.read_text().splitlines():
            assert {"phase", "epoch"} <= set(json.loads(line))


@pytest.mark.stress
def test_the_pinned_model_answers(copied: Path) -> None:
    done = run_program(ROOT / "chat.py", copied, "--once", TWENTY[0][0], "--sha256", manifest_digest(copied))
    assert done.stdout.decode() == TWENTY[0][1] + "\n"


@pytest.mark.stress
def test_chat_refuses_every_damaged_file_in_one_line(copied: Path) -> None:
    for name in files_of(copied):
        file, content = copied / name, (copied / name).read_bytes()
        for how, damaged in [("emptied", b""), ("cut", content[: len(content) // 2]), ("flipped", flip(content, 50))]:
            file.write_bytes(damaged)
            done = run_program(ROOT / "chat.py", copied, "--once", "안녕", timeout=60)
            assert (done.returncode, done.stdout) == (2, b""), (name, how)
            (line,) = done.stderr.decode().splitlines()
            assert line.startswith("error: ")
            assert name in line
        file.write_bytes(content)
