"""Python functions by reference, ``package.module:name`` or ``file.py:name``, as sweep files name them and as worker processes import them."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Optional, Union

__all__ = ["load", "reference", "source_hash"]


def reference(function: Union[str, Callable[..., Any]]) -> str:
    """The reference of a function; texts are returned unchanged. ``ValueError`` if workers could not import it.

    >>> import json
    >>> reference(json.dumps)
    'json:dumps'
    """
    if isinstance(function, str):
        return function
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if module is None or not name.isidentifier():
        raise ValueError(f"{function!r} cannot be imported by other processes; use a function at the top level of a module")
    if module not in ("__main__", "__mp_main__"):
        return f"{module}:{name}"
    file = getattr(sys.modules[module], "__file__", None)
    if file is None:
        raise ValueError(f"`{name}` is defined interactively, where other processes cannot import it; put it into a module")
    return f"{Path(file).resolve()}:{name}"


def load(name: str, folder: Path) -> Callable[..., Any]:
    """The function of a reference; modules are looked for in ``folder`` first. ``ValueError`` says why it cannot be used."""
    place, _, attribute = name.rpartition(":")
    if not place or not attribute:
        raise ValueError(f"`{name}` is not a reference to a function; expected `module:function` or `file.py:function`")
    try:
        module = _from_file(folder / place) if place.endswith(".py") else _from_name(place, folder)
    except Exception as error:  # anything may go wrong in a module of the user
        raise ValueError(f"cannot import `{place}`: {type(error).__name__}: {error}") from error
    function = getattr(module, attribute, None)
    if not callable(function):
        raise ValueError(f"`{place}` has no function `{attribute}`")
    return function  # type: ignore[no-any-return]


def source_hash(name: str, folder: Path) -> Optional[str]:
    """SHA-256 of the file that defines a function, so that results of an earlier definition are not reused."""
    module = sys.modules.get(load(name, folder).__module__)
    file = getattr(module, "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file and file.endswith(".py") else None


def _from_file(path: Path) -> ModuleType:
    path = path.resolve()
    # One module per file and content: a changed file is read again.
    name = f"_riprap_sweep_{path.stem}_{hashlib.sha256(str(path).encode() + path.read_bytes()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _from_name(name: str, folder: Path) -> ModuleType:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return importlib.import_module(name)
