"""`python -m nanlint.confirm.worker`: the fork server, or with `--one` a single job (where there is no fork)."""

from __future__ import annotations

import sys

from nanlint.confirm.worker.server import serve, serve_one

if __name__ == "__main__":
    sys.exit(serve_one() if "--one" in sys.argv else serve())
