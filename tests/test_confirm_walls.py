"""Hostile modules are contained, as root and as an ordinary user; docs/security.md says what gets out without a wall."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")
if not sys.platform.startswith("linux"):
    pytest.skip("the kernel's walls are Linux's", allow_module_level=True)

from nanlint.confirm.harness import Harness
from nanlint.confirm.worker.sandbox import AUDIT_HOOK, LANDLOCK, LAYERS, LIMITS, NAMESPACES, SECCOMP
from nanlint.confirm.worker.walls import landlock
from tests.hostile_modules import HOSTILE, Hostile
from tests.hostile_world import ORDINARY, World, attempted, world

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

USERS = [os.geteuid(), *([ORDINARY] if os.geteuid() == 0 else [])]
PAGE = Path(__file__).resolve().parent.parent / "docs" / "security.md"
_SHOWN = {
    NAMESPACES: {"process namespace", "network namespace", "mount namespace"},
    **{name: {name} for name in (SECCOMP, LANDLOCK, LIMITS, AUDIT_HOOK)},
}
NOTHING = {"do": "devices", "device": "cpu", "timeout": 60.0}


def who(user: int) -> str:
    """The user in a test's name."""
    return "as root" if user == 0 else "as an ordinary user"


def documented(layer: str) -> set[str]:
    """The modules that get out without a layer, as the page says."""
    row = re.search(rf"^\| {re.escape(layer)} \|[^|]*\| (.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert row is not None, f"{PAGE.name} has no row for {layer}"
    return set(row[1].split("; ")) - {"nothing"}


def missing(walls: Sequence[str]) -> list[str]:
    """The layers that this system does not offer."""
    return [layer for layer in LAYERS if not _SHOWN[layer] <= set(walls)]


@dataclass(frozen=True)
class Stage:
    """A world, a harness in it, and the walls that stand there."""

    around: World
    harness: Harness
    walls: list[str]

    @functools.cached_property
    def gets_out(self) -> set[str]:
        """What cannot be contained here, because the system lacks a wall."""
        absent = missing(self.walls)
        if len(absent) > 1:
            pytest.skip(f"this system has no {' and no '.join(absent)}; the page tells what gets out without one")
        return {name for layer in absent for name in documented(layer)}


def started(stack: ExitStack, user: int, without: Sequence[str] = ()) -> Stage:
    """A stage whose harness has answered once."""
    around = stack.enter_context(world(user))
    harness = stack.enter_context(Harness(python=around.harness_python(), without=without))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in around.environment().items():
            patch.setenv(name, value)
        return Stage(around, harness, harness.ask(NOTHING)["walls"])


@pytest.fixture(scope="module")
def stage_of() -> Iterator[Callable[[int], Stage]]:
    """The stage of a user, set when it is first asked for."""
    with ExitStack() as stack:
        yield functools.cache(lambda user: started(stack, user))


# A user namespace with a mount namespace in it, whose mounts can be changed: asked without a word of our own code.
ASKED = """
import ctypes, sys
lib = ctypes.CDLL(None)
sys.exit(lib.unshare(0x10000000 | 0x20000) or lib.mount(b"none", b"/", None, ctypes.c_ulong(16384 | 1 << 18), None))
"""


@pytest.mark.slow
@pytest.mark.parametrize("user", USERS, ids=who)
def test_every_wall_that_the_kernel_offers_stands(stage_of: Callable[[int], Stage], user: int) -> None:
    asked = subprocess.run([sys.executable, "-c", ASKED], check=False)
    offered = {LIMITS, AUDIT_HOOK, *([NAMESPACES] if asked.returncode == 0 else [])}
    offered |= {LANDLOCK} if landlock.version() else set()
    offered |= {SECCOMP} if Path("/proc/sys/kernel/seccomp").exists() else set()
    assert set(missing(stage_of(user).walls)) & offered == set()


@pytest.mark.slow
@pytest.mark.parametrize("user", USERS, ids=who)
@pytest.mark.parametrize("module", HOSTILE, ids=lambda module: module.name)
def test_a_hostile_module_is_contained(stage_of: Callable[[int], Stage], module: Hostile, user: int) -> None:
    stage = stage_of(user)
    if module.name in stage.gets_out:
        pytest.skip("a wall is missing here, without which it gets out")
    answer, effects = attempted(stage.harness, stage.around, module)
    assert (effects, module.reason in answer.get("died", ""), answer["walls"]) == ([], True, stage.walls), answer


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS)
def test_the_page_tells_what_gets_out_without_a_layer(stage_of: Callable[[int], Stage], layer: str) -> None:
    with ExitStack() as stack:
        # The server itself is in a namespace; the other walls are put up for each job.
        is_own = layer == NAMESPACES
        stage = started(stack, USERS[-1], [NAMESPACES]) if is_own else stage_of(USERS[-1])
        absent = set(missing(stage.walls)) - {layer}
        if absent:
            pytest.skip(f"this system has no {' and no '.join(sorted(absent))}")
        tried = {one: attempted(stage.harness, stage.around, one, without=[layer])[1] for one in HOSTILE}
    out = {module.name for module, effects in tried.items() if effects}
    may_stay = {module.name for module in HOSTILE if module.depends}
    assert (out - documented(layer), documented(layer) - out - may_stay) == (set(), set())


@pytest.mark.slow
def test_a_run_on_a_gpu_has_the_same_walls(stage_of: Callable[[int], Stage]) -> None:
    # The walls of such a run need no GPU to stand.
    stage = stage_of(USERS[-1])
    out = {
        module.name: effects
        for module in HOSTILE
        if (effects := attempted(stage.harness, stage.around, module, device="cuda")[1])
    }
    assert out.keys() - stage.gets_out == set()
    assert stage.harness.ask({**NOTHING, "device": "cuda"})["walls"] == stage.walls


@pytest.mark.gpu
def test_a_gpu_can_be_used_behind_the_walls(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no CUDA device")
    (path := tmp_path / "on_gpu.py").write_text(
        "import torch\n\ndef is_finite():\n    return float(torch.ones(3, device='cuda').sum()) == 3\n"
    )
    with Harness() as harness:
        answer = harness.ask({"do": "proof", "path": str(path), "device": "cuda", "timeout": 60.0})
    assert (answer.get("finite"), missing(answer["walls"])) == (True, [])


def test_there_are_enough_hostile_modules_and_each_has_a_name_of_its_own() -> None:
    assert len({module.name for module in HOSTILE}) == len(HOSTILE) >= 45
