"""The Python blocks of the book run, page by page and in order."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib
import pytest
from conftest import ROOT

HOW_TO = ROOT / "book/src/how-to"
# Pages, how many blocks they have at least, and a file that they write.
PAGES: dict[str, tuple[int, str | None]] = {
    "python.md": (6, "out/ball/series.csv"),
    "plots.md": (8, None),
    "measures.md": (1, None),
    "periodic.md": (1, None),
    "insert-and-remove.md": (1, None),
    "sweep.md": (4, "pi.svg"),
    **{path.name: (1, None) for path in HOW_TO.glob("coming-from-*.md")},
}


def test_there_is_a_page_for_everyone() -> None:
    assert len(PAGES) >= 7


@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_snippets_of_the_book_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    page = (HOW_TO / name).read_text()
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", page, re.M | re.S))
    count, written = PAGES[name]
    assert len(blocks) >= count
    names: dict[str, object] = {}
    for block in blocks:
        # Lines of the page, for tracebacks.
        source = "\n" * page[: block.start(1)].count("\n") + block.group(1)
        exec(compile(source, str(HOW_TO / name), "exec"), names)
    assert written is None or (tmp_path / written).is_file()
