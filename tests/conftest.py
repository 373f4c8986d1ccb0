"""What every test may rely on: no leftovers of the developer's own environment, and a reason for each skipped test."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

# Every run tries the same examples, so that a change is judged by itself and not by luck. `python -m tests --explore`
# looks for new ones. How long an example takes is for benchmarks to judge.
settings.register_profile("same", derandomize=True, deadline=None, database=None, print_blob=True)
settings.register_profile("explore", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile("explore" if os.environ.get("NANLINT_TESTS_EXPLORE") else "same")

# Modules whose tests run torch code, train, or start a process for each case.
RUNNING_CODE = (
    "test_confirm", "test_trace", "test_checkpoint", "test_truth", "test_loop_truth", "test_fix_property", "test_loop_fix",
    "test_fixed_functions", "test_ops", "test_faults", "test_workers", "test_packaging", "test_hooks", "test_readme",
    "test_start_up", "test_terminal", "test_reveal", "test_gate", "test_neighbours", "test_six_patterns",
)  # fmt: skip

OF_THE_DEVELOPER = ("NANLINT_CACHE_DIR", "NANLINT_RAISE", "NO_COLOR", "FORCE_COLOR")


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `--quick` leaves out and `--explore` runs; skip what needs a CUDA device where there is none, and say so."""
    for item in items:
        name = Path(str(item.path)).stem
        if name.startswith(RUNNING_CODE):
            item.add_marker("runs_code")
        if hasattr(getattr(item, "obj", None), "hypothesis"):
            item.add_marker("explores")
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
