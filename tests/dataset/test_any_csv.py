"""Any CSV in: pairs that can be trained on, or one clear line."""

from __future__ import annotations

import csv
import encodings.aliases
import gzip
import io
import random
import time
import zipfile
from pathlib import Path

import pytest

from chatbot.config import TextSettings
from chatbot.dataset.corpus import FORMATS, Corpus, ReadOptions, read_corpus
from chatbot.dataset.encode import make_pair_encoder
from chatbot.doctor.scan import scan
from chatbot.doctor.source import open_source
from chatbot.errors import UserError
from chatbot.text.analyzer import CharacterAnalyzer
from chatbot.text.normalize import normalize
from chatbot.text.pipeline import analyze
from tests.conftest import ROOT, run_program
from tests.fuzz import ESCAPES, any_line, any_text, is_plain

LONGEST_MESSAGE = 2_000
DEFAULT = ReadOptions()
HEADERS = [
    "Q,A",
    "질문,답변",
    "question;answer",
    "Q\tA",
    "A,Q,label",
    '"Q","A"',
    "\ufeffQ,A",
    "Q",
    "",
    "Q,A," + "x," * 3_000,
    "\x1b[31m,Q",
    ",",
]


def refused(error: UserError) -> None:
    """A refusal is one line that a person reads."""
    assert "\n" not in str(error)
    assert len(str(error)) < LONGEST_MESSAGE


def up_to_training(path: Path, options: ReadOptions = DEFAULT) -> Corpus | None:
    """Reads a file and makes of it what the model gets; None where it is refused, which must be in one clear line."""
    analyzer = CharacterAnalyzer()
    try:
        corpus = read_corpus([path], options)
        questions, answers = (analyze(texts, analyzer) for texts in (corpus.questions, corpus.answers))
        pairs = make_pair_encoder(TextSettings(), questions, answers).encode(questions, answers, corpus.answer_numbers)
    except UserError as error:
        refused(error)
        return None
    assert len(pairs) == len(corpus.pairs) > 0
    assert all(len(ids) for ids in (*pairs.question_ids, *pairs.answer_ids))
    for text in (*corpus.questions, *corpus.answers):
        assert text == normalize(text) != ""
        assert is_plain(text)
    return corpus


def under_the_doctor(path: Path, options: ReadOptions = DEFAULT) -> None:
    """The doctor takes the same files."""
    try:
        scan([open_source(path, options)])
    except UserError as error:
        refused(error)


def any_file(random: random.Random) -> bytes:
    """A file of one of many kinds: rows of anything below a header, in some encoding, now and then torn or not text."""
    kind = random.randrange(10)
    if kind == 0:
        return b"\n".join(any_line(random) for _ in range(random.randrange(20)))
    header = "Q,A" if kind > 4 else random.choice(HEADERS)
    delimiter = random.choice([",", ";", "\t"]) if kind <= 4 else ","
    text = io.StringIO()
    text.write(header + random.choice(["\n", "\r\n", "\r"]))
    if kind == 1:  # by hand: quotes where they do not belong
        text.write(
            "".join(random.choice(['"', ",", "\n", "가", "\r", ";", " ", "\\", "\0"]) for _ in range(random.randrange(200)))
        )
    else:
        writer = csv.writer(text, delimiter=delimiter, quoting=random.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
        for _ in range(random.randrange(12)):
            writer.writerow([any_text(random) for _ in range(random.choice([1, 2, 2, 2, 3]))])
    encoding = random.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp949", "utf-32", "latin-1"])
    content = text.getvalue().encode(encoding, "surrogatepass" if kind == 3 and encoding.startswith("utf") else "replace")
    return content[: random.randrange(len(content) + 1)] if kind == 2 else content


@pytest.mark.parametrize("count", [200, pytest.param(3_000, marks=pytest.mark.stress)])
def test_any_file_is_pairs_or_one_line(tmp_path: Path, count: int) -> None:
    generator, read = random.Random(0), 0
    path = tmp_path / "any.csv"
    for number in range(count):
        path.write_bytes(any_file(generator))
        options = ReadOptions(format=FORMATS[number % 5 == 0])
        read += up_to_training(path, options) is not None
        under_the_doctor(path, options)
    assert count / 5 < read < count, "both ways out are taken"


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"", 0),
        (b"\n\n\n", 0),
        (b"Q,A", 0),
        (b"Q,A\n", 0),
        (b"Q,A\n,\n", 0),
        (b"Q,A\n\xea\xb0\x80,\xeb\x82\x98", 1),
        (b"Q,A\n" + b"a" * 1_000_000 + b",b\n", 1),
        (b"Q,A\na," + "가나 ".encode() * 150_000 + b"\n", 1),
        (b'Q,A\n"' + b"a\n" * 100 + b'",b\n', 1),
        (b'Q,A\n"' + b"a\n" * 10_000, 0),
        (b"Q,A\n" + b"a" * (1 << 24) + b"a,b\n", 0),
        (b"Q," + b"a" * (1 << 24) + b"a,A\nx,y,z\n", 0),
        (b"Q,A" + b",x" * 5_000 + b"\na,b" + b"," * 5_000 + b"\n", 1),
        (b"Q" * 1_000_000 + b",A\na,b\n", 0),
        (b"Q,A\na" + "\u0301\u0323".encode() * 250_000 + b",b\n", 1),
        (b"Q,A\n" + b"\0" * 1_000_000 + b",b\n", 0),
        (b'"' * 1_000_000, 0),
    ],
    ids=range(17),
)
def test_sizes_from_nothing_up(tmp_path: Path, content: bytes, rows: int) -> None:
    path = tmp_path / "size.csv"
    path.write_bytes(content)
    begin = time.process_time()
    corpus = up_to_training(path)
    under_the_doctor(path)
    assert (0 if corpus is None else len(corpus.pairs)) == rows
    assert time.process_time() - begin < 10


def test_every_encoding_that_python_has_a_name_for(tmp_path: Path) -> None:
    path = tmp_path / "named.csv"
    path.write_bytes("Q,A\n안녕,반가워\n".encode())
    names = sorted({*encodings.aliases.aliases.values(), "idna", "punycode", "undefined", "unicode_escape", "nonsense", ""})
    read = {name for name in names if up_to_training(path, ReadOptions(encoding=name)) is not None}
    assert "utf_8" in read
    assert not read & {"base64_codec", "rot_13", "hex_codec", "zlib_codec", "undefined", "nonsense"}


def test_damaged_archives_are_one_line(tmp_path: Path) -> None:
    table, generator = b"Q,A\n" + b"a,b\n" * 50, random.Random(0)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", table)
    for suffix, whole in ((".gz", gzip.compress(table)), (".zip", packed.getvalue())):
        path = tmp_path / f"any.csv{suffix}"
        for _ in range(100):
            damaged = bytearray(whole)
            damaged[generator.randrange(len(whole))] ^= 1 << generator.randrange(8)
            path.write_bytes(damaged[: generator.choice([len(whole), generator.randrange(len(whole))])])
            up_to_training(path)
        path.write_bytes(whole)
        assert up_to_training(path) is not None


POISONED = "Q,A\n" + "".join(f'"안녕{escape}{number}","반가워{escape}{number}"\n' for number, escape in enumerate(ESCAPES))


def test_escape_sequences_in_a_file_end_with_its_reading(tmp_path: Path) -> None:
    path = tmp_path / "poisoned\x1b[31m.csv"
    path.write_text(POISONED.replace("Q,A", "Q,A,\x1b[31mkind") + "한 칸만\x1b[2J\n", encoding="utf-8", newline="")
    done = run_program("-m", "chatbot", "check", path, "--analyzer", "character", "--lang", "ko")
    assert done.returncode == 1
    assert is_plain(done.stdout.decode())
    assert is_plain(done.stderr.decode())
    done = run_program(ROOT / "train.py", "--data", path, "--output", tmp_path / "run", "--preset", "none")
    assert done.returncode == 2
    assert is_plain(done.stderr.decode())


SMALL = ["--analyzer", "character", "--preset", "tiny", "--epochs", "2", "--validation-split", "0"]


@pytest.mark.stress
@pytest.mark.parametrize("name", ["one row", "poisoned", "a megabyte", "empty", "one column"])
def test_through_the_real_train_py(tmp_path: Path, name: str) -> None:
    content = {
        "one row": "Q,A\n안녕,반가워\n",
        "poisoned": POISONED,
        "a megabyte": "Q,A\n" + "가나 " * 150_000 + ",네\n안녕," + "가나 " * 150_000 + "\n",
        "empty": "",
        "one column": "Q\n안녕\n",
    }[name]
    data, run = tmp_path / "data.csv", tmp_path / "run"
    data.write_text(content, encoding="utf-8", newline="")
    done = run_program(ROOT / "train.py", "--data", data, "--output", run, *SMALL)
    assert is_plain(done.stderr.decode())
    if name in ("empty", "one column"):
        assert done.returncode == 2
        assert len(done.stderr.decode().splitlines()) == 1
        return
    assert done.returncode == 0, done.stderr.decode()
    if name != "poisoned":
        return
    done = run_program(ROOT / "chat.py", run, stdin="안녕\n\x1b[31m\n".encode())
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.count(b"\n") == 2
    assert is_plain(done.stdout.decode() + done.stderr.decode())
