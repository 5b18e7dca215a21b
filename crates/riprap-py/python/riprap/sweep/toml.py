"""TOML for sweeps: reading, the line of a key for messages, and writing a parsed document back.

The writer covers what scene files contain. Tables come as ``[a.b]`` and ``[[a]]``, so that the scene of a case can be read and checked like any other.
"""

from __future__ import annotations

import json
import math
import re
import sys
from typing import Any, Dict, List, Sequence

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["TOMLDecodeError", "line_of", "parse", "write"]

TOMLDecodeError = tomllib.TOMLDecodeError

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_HEADER = re.compile(rf"\s*\[\[?\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*\]")
_ENTRY = re.compile(rf"\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*=")


def parse(text: str) -> Dict[str, Any]:
    """The tables of a TOML text."""
    return tomllib.loads(text)


def line_of(text: str, key: Sequence[str]) -> int:
    """The line of a key, or of the nearest table around it; 0 if there is none.

    >>> line_of('seeds = 3\\n[parameters]\\nmu = [0.3]\\n', ("parameters", "mu"))
    3
    """
    best, line_of_best, table = 0, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        header, entry = _HEADER.match(line), _ENTRY.match(line)
        if header:
            path = table = _split(header.group(1))
        elif entry:
            path = [*table, *_split(entry.group(1))]
        else:
            continue
        common = len(path) if path == list(key[: len(path)]) else 0
        if common > best:
            best, line_of_best = common, number
    return line_of_best


def _split(keys: str) -> List[str]:
    return [key.strip("\"'") for key in re.findall(_KEY, keys)]


def write(document: Dict[str, Any]) -> str:
    """The TOML text of a document.

    >>> print(write({"seed": 2, "run": {"dt": "1 ms"}, "body": [{"name": "a"}, {"name": "b"}]}), end="")
    seed = 2
    <BLANKLINE>
    [run]
    dt = "1 ms"
    <BLANKLINE>
    [[body]]
    name = "a"
    <BLANKLINE>
    [[body]]
    name = "b"
    """
    lines: List[str] = []
    _table(document, [], lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def _table(table: Dict[str, Any], path: List[str], lines: List[str]) -> None:
    """Values first, then the tables below."""
    below = {key: value for key, value in table.items() if isinstance(value, dict) or _is_tables(value)}
    for key, value in table.items():
        if key not in below:
            lines.append(f"{_name(key)} = {_value(value)}")
    for key, value in below.items():
        inner = [*path, key]
        header = ".".join(map(_name, inner))
        for element in value if isinstance(value, list) else [value]:
            lines += ["", f"[[{header}]]" if isinstance(value, list) else f"[{header}]"]
            _table(element, inner, lines)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(element, dict) for element in value)


def _name(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else {math.inf: "inf", -math.inf: "-inf"}.get(value, "nan")
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_name(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    return str(value)
