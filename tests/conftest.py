"""What every test may rely on: no leftovers of the developer's own environment, and a reason for each skipped test."""

from __future__ import annotations

import gc
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from tests.warm_python import warm_python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# On a loaded machine a single example can take a second: how long one takes is for benchmarks to judge.
# The same examples every time, whatever an earlier run has found; `python -m tests --explore` draws new ones.
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None, print_blob=True)
settings.register_profile("explore", derandomize=False, max_examples=2000, deadline=None, print_blob=True)
settings.load_profile("repeatable")


def pytest_collection_finish() -> None:
    """The last moment before the first test."""
    _keep_loaded_modules_out_of_the_draw()
    # Torch, libcst and 13,000 tests stay until the end: looking through them at every collection takes minutes.
    gc.collect()
    gc.freeze()


def _keep_loaded_modules_out_of_the_draw() -> None:
    """Hypothesis also draws constants of the modules that are loaded, and those depend on which tests ran before."""
    if settings.default is not None and settings.default.derandomize:
        providers.__dict__["_get_local_constants"] = type(providers.GLOBAL_CONSTANTS)


# Without written bytecode every process that a test starts would compile nanlint again.
OF_THE_DEVELOPER = ("NANLINT_CACHE_DIR", "NANLINT_RAISE", "NO_COLOR", "FORCE_COLOR", "PYTHONDONTWRITEBYTECODE")


@pytest.fixture(autouse=True)
def neutral_environment(monkeypatch: pytest.MonkeyPatch, own_folders: Path) -> None:
    """What a developer has set for the own terminal changes no test; the projects of the tests are trusted."""
    for variable in OF_THE_DEVELOPER:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(own_folders / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own_folders / "config"))
    monkeypatch.setenv("NANLINT_ALLOW_LOCAL_RULES", "1")


@pytest.fixture(scope="session")
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The user's own folders, for this run of the tests."""
    return tmp_path_factory.mktemp("own")


@pytest.fixture(scope="session")
def torch_python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Python that has torch imported already, for scripts that are run and waited for."""
    pytest.importorskip("torch", reason="torch is not installed")
    with warm_python(tmp_path_factory.mktemp("python")) as path:
        yield path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the modules that take long, so that none is left over at the end; skip what cannot run here."""
    slow = {item.path for item in items if "slow" in item.keywords}
    items.sort(key=lambda item: item.path not in slow)
    _skip_what_needs_a_gpu(items)


def _skip_what_needs_a_gpu(items: list[pytest.Item]) -> None:
    """Skip what needs a CUDA device where there is none, and say so."""
    needing = [item for item in items if "gpu" in item.keywords]
    reason = _why_no_gpu() if needing else ""
    if reason:
        for item in needing:
            item.add_marker(pytest.mark.skip(reason=reason))


def _why_no_gpu() -> str:
    if find_spec("torch") is None:
        return "torch is not installed"
    import torch  # noqa: PLC0415 - most machines that collect the tests have no use for it

    return "" if torch.cuda.is_available() else "torch sees no CUDA device"
