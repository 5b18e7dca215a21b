"""The package: stub, docstrings, command."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import riprap as rr
from riprap import _riprap

CRATE = ROOT / "crates/riprap-py"


def documented() -> list[str]:
    return [name for name in rr.__all__ if inspect.isclass(getattr(rr, name)) or inspect.isroutine(getattr(rr, name))]


def test_the_stub_is_that_of_the_sources() -> None:
    subprocess.run([sys.executable, str(CRATE / "stubs.py"), "--check"], check=True)


def test_every_public_name_is_in_the_stub_with_its_signature() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "riprap", "--ignore-unused-allowlist", "--allowlist"]
    command += [str(CRATE / "tests/stubtest-allowlist.txt"), "--mypy-config-file", str(ROOT / "pyproject.toml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_typed() -> None:
    assert (Path(rr.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("name", documented())
def test_public_items_are_documented(name: str) -> None:
    item = getattr(rr, name)
    assert item.__doc__, name
    for member, value in vars(item).items() if inspect.isclass(item) else []:
        if not member.startswith("_") and callable(value):
            assert value.__doc__, f"{name}.{member}"


@pytest.mark.parametrize("name", ["riprap", *documented()])
def test_examples_of_docstrings_run(name: str) -> None:
    item = rr if name == "riprap" else getattr(rr, name)
    text = item.__doc__ or ""
    if inspect.isclass(item) and item.__module__ == "riprap" and name not in ("Frames",):
        assert ">>>" in text, f"{name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(doctest.DocTestParser().get_doctest(text, {}, name, None, 0))
    assert runner.summarize(verbose=False).failed == 0


def test_the_command_line_comes_with_the_package(tmp_path: Path) -> None:
    version = subprocess.run([sys.executable, "-m", "riprap", "--version"], capture_output=True, text=True)
    assert version.returncode == 0 and version.stdout.strip() == f"riprap {rr.__version__}"
    command = Path(sys.executable).parent / "riprap"
    check = subprocess.run([str(command), "check", str(ROOT / "examples/bouncing-ball/scene.toml")], capture_output=True)
    assert check.returncode == 0
    (tmp_path / "bad.toml").write_text("[run]\ndt = 1\n")
    wrong = subprocess.run([str(command), "run", str(tmp_path / "bad.toml")], capture_output=True, text=True)
    assert wrong.returncode == 2 and "until" in wrong.stderr


def test_the_schema_is_json() -> None:
    import json

    assert "properties" in json.loads(rr.scene_schema())
    assert _riprap.__version__ == rr.__version__
