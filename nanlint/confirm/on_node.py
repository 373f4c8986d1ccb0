"""What another machine does for a job: unpack the project once, ask a child process of its own, and hand back what it said.

Nothing is judged here. The child lives behind the same walls as anywhere, and its words go back as bytes.
"""

from __future__ import annotations

import atexit
import json
import os
from typing import TYPE_CHECKING, Any

from nanlint import __version__
from nanlint.confirm.harness import Harness
from nanlint.confirm.shipping import moved, told_of, unpack
from nanlint.errors import NanlintError

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]
_harnesses: dict[str, Harness] = {}
"""By the GPUs that this process may see: a child process keeps those it was started with."""


def answered(request: bytes, content: Callable[[], bytes]) -> bytes:
    """The answer to a request, `{"answer": …}`; `{"failed": reason}` if this machine cannot run anything.

    `content` is asked for the project where it is not here yet.
    """
    asked = json.loads(request)
    try:
        return json.dumps({"answer": _answer(asked, content)}).encode()
    except NanlintError as error:
        return json.dumps({"failed": str(error)}).encode()


def _answer(asked: Json, content: Callable[[], bytes]) -> Json:
    if asked["version"] != __version__:
        raise NanlintError(f"a machine of the cluster has nanlint {__version__}, this one {asked['version']}")
    harness = _harness()
    while True:
        home = harness.folder()
        folder = _unpacked(os.path.join(home, f"project-{asked['digest']}"), content)  # noqa: PTH118 - strings
        answer = harness.ask(moved(asked["job"], asked["folder"], folder))
        if harness.folder() == home:
            return told_of(answer, folder, asked["folder"])
        # The child process was replaced meanwhile, and the project has gone with its folder.


def _harness() -> Harness:
    gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    if gpus not in _harnesses:
        _harnesses[gpus] = Harness()
        atexit.register(_harnesses[gpus].stop)
    return _harnesses[gpus]


def _unpacked(folder: str, content: Callable[[], bytes]) -> str:
    if not os.path.isdir(folder):  # noqa: PTH112 - a string
        unpack(content(), folder)
    return folder
