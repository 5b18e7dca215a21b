"""The command ``riprap``."""

from __future__ import annotations

import sys

from . import _riprap


def main() -> None:
    """Run the command with the arguments of the process and exit with its code."""
    if sys.argv[1:2] == ["sweep"]:
        from .sweep.command import main as sweep

        sys.exit(sweep(sys.argv[2:]))
    sys.exit(_riprap.main(["riprap", *sys.argv[1:]]))
