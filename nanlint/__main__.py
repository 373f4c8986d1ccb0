"""`python -m nanlint` is the `nanlint` command."""

# pathlib is not imported by any command that a hook runs.
# ruff: noqa: PTH100, PTH120

import os
import sys

# Python puts the working directory first, where a stranger's repository may have a json.py: look where we are instead.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from nanlint.cli.main import main  # noqa: E402 - after the path is right

if __name__ == "__main__":
    sys.exit(main())
