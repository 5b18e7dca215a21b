"""Packages that only parts of riprap need: matplotlib, pandas, xarray, tqdm."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["need"]


def need(module: str, by: str) -> Any:
    """A module of an optional package, for a function that is named in the error if the package is missing.

    >>> need("json", by="an example").loads("[1]")
    [1]
    >>> need("no_such_package.part", by="riprap.plot.show")
    Traceback (most recent call last):
        ...
    ImportError: riprap.plot.show needs the package `no_such_package`: pip install no_such_package
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # A package that is there and lacks one of its own dependencies reports that itself.
        if (error.name or "").partition(".")[0] != package:
            raise
        raise ImportError(f"{by} needs the package `{package}`: pip install {package}", name=package) from None
