"""The Python blocks of the book run, page by page and in order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

HOW_TO = ROOT / "book/src/how-to"
# Pages, how many blocks they have at least, and a file that they write.
PAGES = {"python.md": (6, "out/ball/series.csv"), "sweep.md": (4, "pi.svg")}


@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_snippets_of_the_book_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (HOW_TO / name).read_text()
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", page, re.M | re.S))
    assert len(blocks) >= PAGES[name][0]
    names: dict[str, object] = {}
    for block in blocks:
        # Lines of the page, for tracebacks.
        source = "\n" * page[: block.start(1)].count("\n") + block.group(1)
        exec(compile(source, str(HOW_TO / name), "exec"), names)
    assert (tmp_path / PAGES[name][1]).is_file()
