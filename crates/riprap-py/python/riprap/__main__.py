"""``python -m riprap``: the command ``riprap``."""

from .cli import main

if __name__ == "__main__":
    main()
