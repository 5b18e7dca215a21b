"""The Python blocks of the book run, in order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

PAGE = ROOT / "book/src/how-to/python.md"


def test_the_snippets_of_the_book_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text()
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", page, re.M | re.S))
    assert len(blocks) >= 6
    names: dict[str, object] = {}
    for block in blocks:
        # Lines of the page, for tracebacks.
        source = "\n" * page[: block.start(1)].count("\n") + block.group(1)
        exec(compile(source, str(PAGE), "exec"), names)
    assert (tmp_path / "out/ball/series.csv").is_file()
