"""`python -m nanlint` is the `nanlint` command."""

import sys

from nanlint.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
