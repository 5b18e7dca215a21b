"""The scene of a case: a parsed scene file with parameters, keys and the seed set, paths made absolute, and the hash of its content."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from .._riprap import _key_path
from . import toml

__all__ = ["SceneTemplate", "set_value"]

# Keys of scene files that hold paths, and tables whose keys are names given by the user.
PATH_KEYS = ("file", "folder", "urdf")
_NAMED = ("parameters", "latch")
_MESHES = (".stl", ".obj", ".ply")


class SceneTemplate:
    """A scene file from which the scenes of the cases are made.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scene.toml"
    >>> _ = path.write_text('[run]\\ndt = 1e-3\\nuntil = "1 s"\\n[parameters]\\nmu = 0.3\\n')
    >>> scene = SceneTemplate(path)
    >>> scene.case({"mu": 0.5, "run.until": "2 s"}, seed=7, frames=False)["parameters"]
    {'mu': 0.5}
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.document = toml.parse(path.read_text(encoding="utf-8"))
        self._hashes: Dict[Path, str] = {}

    def case(self, parameters: Dict[str, Any], seed: Optional[int], frames: bool) -> Dict[str, Any]:
        """The document of a case; ``ValueError`` if a parameter is not in the scene."""
        document = copy.deepcopy(self.document)
        for name, value in parameters.items():
            set_value(document, name, value)
        if seed is not None:
            document = {"seed": seed, **{key: value for key, value in document.items() if key != "seed"}}
        if not frames and isinstance(document.get("run"), dict):
            document["run"]["frames"] = False
        return document

    def text(self, document: Dict[str, Any]) -> str:
        """The TOML text of a case, with absolute paths."""
        return toml.write(_with_paths(document, lambda key, path: str(self._absolute(path))))

    def hash(self, document: Dict[str, Any]) -> str:
        """SHA-256 of a case: its values, and the content of the files it refers to instead of their paths."""
        content = _with_paths(document, lambda key, path: self._content(key, self._absolute(path)))
        return hashlib.sha256(json.dumps(content, sort_keys=False, default=str).encode()).hexdigest()

    def fixed_seeds(self) -> List[str]:
        """Groups of grains with a seed of their own, which the seeds of a sweep do not change."""
        groups = self.document.get("grains", [])
        return [str(group.get("name", f"grains-{i}")) for i, group in enumerate(groups, 1) if "seed" in group]

    def _absolute(self, path: str) -> Path:
        return (self.path.parent / path).resolve()

    def _content(self, key: str, path: Path) -> str:
        """The hash of a file, of the meshes in a folder, or of a URDF file with its meshes; files are read once."""
        if path not in self._hashes:
            total = hashlib.sha256()
            for name, file in _files(key, path):
                total.update(name.encode())
                total.update(hashlib.sha256(file.read_bytes()).digest() if file.is_file() else b"missing")
            self._hashes[path] = f"sha256:{total.hexdigest()}"
        return self._hashes[path]


def _files(key: str, path: Path) -> Iterator[Tuple[str, Path]]:
    """Files that determine what a path in a scene means, with names that do not depend on where they are."""
    if key == "folder" and path.is_dir():
        for file in sorted(path.iterdir()):
            if file.suffix.lower() in _MESHES:
                yield file.name, file
        return
    yield path.suffix, path
    if key == "urdf" and path.is_file():
        for mesh in re.findall(r"""filename\s*=\s*["']([^"']*)["']""", path.read_text(encoding="utf-8", errors="replace")):
            yield mesh, _urdf_mesh(path.parent, mesh)


def _urdf_mesh(folder: Path, name: str) -> Path:
    """The file of a mesh: `package://name/path` is searched in the folder of the URDF file and its parents, as riprap does."""
    if not name.startswith("package://"):
        return folder / name
    rest = name[len("package://") :]
    inner = rest.partition("/")[2]
    tried = [parent / part for parent in (folder, *folder.parents) for part in (rest, inner)]
    return next((path for path in tried if path.is_file()), folder / rest)


def _with_paths(value: Any, change: Callable[[str, str], str]) -> Any:
    """A copy of a document in which every path is replaced."""
    if isinstance(value, list):
        return [_with_paths(element, change) for element in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for key, inner in value.items():
        if key in PATH_KEYS and isinstance(inner, str):
            result[key] = change(key, inner)
        else:
            result[key] = inner if key in _NAMED else _with_paths(inner, change)
    return result


def set_value(document: Dict[str, Any], name: str, value: Any) -> None:
    """Sets a parameter of ``[parameters]``, or a key by its path: ``materials.rock.friction``, ``grains.ballast.count``.

    Elements of lists are found by their `name` or their number, counted from 1. Paths are those of ``riprap run --set``.

    >>> scene = {"parameters": {"mu": 0.3}, "grains": [{"name": "sand", "count": 10}]}
    >>> set_value(scene, "mu", 0.5); set_value(scene, "grains.sand.count", 20); set_value(scene, "grains.1.seed", 3)
    >>> scene
    {'parameters': {'mu': 0.5}, 'grains': [{'name': 'sand', 'count': 20, 'seed': 3}]}
    """
    table: Any = document
    steps = _key_path(json.dumps(_outline(document)), name)
    for step in steps[:-1]:
        table = table.setdefault(step, {}) if isinstance(table, dict) else table[step]
    table[steps[-1]] = value


def _outline(value: Any) -> Any:
    """Keys and texts of a document; other values do not matter for paths, and may have no form in JSON."""
    if isinstance(value, dict):
        return {key: _outline(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_outline(inner) for inner in value]
    return value if isinstance(value, str) else None
