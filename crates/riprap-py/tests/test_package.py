"""The package: stub, docstrings, command."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT

import riprap as rr
from riprap import _riprap

CRATE = ROOT / "crates/riprap-py"


def modules() -> list[ModuleType]:
    """The package and its public modules; those that need packages which are not installed are left out."""
    found = [rr]
    for info in pkgutil.iter_modules(rr.__path__):
        if not info.name.startswith("_") and info.name != "cli":
            try:
                found.append(importlib.import_module(f"riprap.{info.name}"))
            except ImportError:
                continue
    return found


def public() -> dict[str, object]:
    """All public classes and functions by their names."""
    items: dict[str, object] = {}
    for module in modules():
        for name in getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")]):
            item = getattr(module, name)
            if (inspect.isclass(item) or inspect.isroutine(item)) and item.__module__.startswith("riprap"):
                items.setdefault(f"{item.__module__}.{name}", item)
    return items


PUBLIC = public()


def test_the_stub_is_that_of_the_sources() -> None:
    subprocess.run([sys.executable, str(CRATE / "stubs.py"), "--check"], check=True)


def test_every_public_name_is_in_the_stub_with_its_signature() -> None:
    # The other modules have their types in the source.
    command = [sys.executable, "-m", "mypy.stubtest", "riprap._riprap", "--ignore-unused-allowlist", "--allowlist"]
    command += [str(CRATE / "tests/stubtest-allowlist.txt"), "--mypy-config-file", str(ROOT / "pyproject.toml")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_typed() -> None:
    assert (Path(rr.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("name", PUBLIC)
def test_public_items_are_documented_with_an_example(name: str) -> None:
    item = PUBLIC[name]
    text = inspect.getdoc(item) or ""
    assert ">>>" in text, f"{name} has no example"
    for member, value in vars(item).items() if inspect.isclass(item) else []:
        if not member.startswith("_") and (callable(value) or inspect.isdatadescriptor(value)):
            assert value.__doc__, f"{name}.{member}"


def test_quantities_have_units() -> None:
    """Docstrings of properties that are numbers name a unit in brackets."""
    stub = (Path(rr.__file__).parent / "_riprap.pyi").read_text()
    numbers = re.findall(r'def (\w+)\(self\) -> (?:Optional\[)?(?:float|_Array)\]?:\n\s+"""(.*?)"""', stub, re.S)
    assert len(numbers) > 100
    without = [name for name, text in numbers if not re.search(r"\[[^\]]+\]|quaternion", text)]
    assert not without, without


def examples() -> list[tuple[str, str]]:
    """Every docstring with an example: of modules, of public items, of their members."""
    found = [(module.__name__, module.__doc__ or "") for module in modules()]
    for name, item in PUBLIC.items():
        found.append((name, inspect.getdoc(item) or ""))
        for member, value in vars(item).items() if inspect.isclass(item) else []:
            found.append((f"{name}.{member}", getattr(value, "__doc__", None) or ""))
    return [(name, text) for name, text in found if ">>>" in text]


@pytest.mark.parametrize("name, text", examples(), ids=lambda value: value if "\n" not in value else "")
def test_examples_of_docstrings_run(name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(doctest.DocTestParser().get_doctest(text, {}, name, None, 0))
    assert runner.summarize(verbose=False).failed == 0


def test_the_package_declares_that_it_does_not_need_the_gil() -> None:
    source = (CRATE / "src/lib.rs").read_text()
    assert "#[pymodule(gil_used = false)]" in source
    # On a free-threaded interpreter the import would switch the GIL on again otherwise.
    enabled = getattr(sys, "_is_gil_enabled", lambda: True)
    assert enabled() == (not bool(sysconfig.get_config_var("Py_GIL_DISABLED")))


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
