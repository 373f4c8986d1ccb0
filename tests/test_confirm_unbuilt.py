"""Methods of a training run are called on objects that nobody can construct, and memory that nobody fills is found out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")

from nanlint.model.verdict import VerdictKind
from tests.confirm_projects import finding_at, verdicts_on, written

if TYPE_CHECKING:
    from pathlib import Path

    from nanlint.model.verdict import Verdict

RESUMED = """
import torch
from pathlib import Path


class Trainer:
    def __init__(self, diffusion, folder, train_lr=1e-4):
        self.images = sorted(Path(folder).glob("*.png"))
        assert len(self.images) > 100, "a real data set, please"
        self.model, self.train_lr = diffusion, train_lr
        self.opt = torch.optim.Adam(diffusion.parameters(), lr=train_lr)
        self.results_folder = Path("results")

    def load(self, milestone):
        data = torch.load(self.results_folder / f"model-{milestone}.pt")
        self.model.load_state_dict(data["model"])
        self.opt.load_state_dict(data["opt"])  # here
"""
LATER = """
import torch


class Agent:
    def __init__(self, learning_rate=1e-3, initial=None):
        self.learning_rate, self.initial = learning_rate, initial

    def restore(self, rank=0):
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=self.learning_rate)
        if self.initial is not None:
            self.optimizer.load_state_dict(self.initial)  # here
"""
PADDED = """
import torch


def padded(x: torch.Tensor, width: int = 8) -> torch.Tensor:
    rows = torch.zeros(len(x), 2)
    out = torch.empty(len(x), width)  # here
    {fill}
    return torch.cat([rows, out], dim=1)
"""


def verdict_on(path: Path, code: str, operation: str) -> Verdict:
    """The verdict on the line that is marked with `# here`."""
    return verdicts_on([finding_at(path, code=code, operation=operation)])[0]


@pytest.mark.parametrize("text", [RESUMED, LATER], ids=["a constructor that wants data", "an attribute set later"])
def test_what_a_method_restores_is_seen_on_an_object_with_things_that_suit(tmp_path: Path, text: str) -> None:
    verdict = verdict_on(written(tmp_path, text), "NAN501", ".load_state_dict")
    assert verdict.kind is VerdictKind.REACHABLE, verdict.reason
    assert "the resumed optimizer goes by" in (verdict.reason or "")


def test_a_file_named_after_its_package_is_imported_from_there(tmp_path: Path) -> None:
    written(tmp_path, "", "trainer/__init__.py")
    written(tmp_path, "import torch\n\nif __name__ == '__main__':\n    import trainer.trainer\n", "trainer/tool.py")
    verdict = verdict_on(written(tmp_path, RESUMED, "trainer/trainer.py"), "NAN501", ".load_state_dict")
    assert verdict.kind is VerdictKind.REACHABLE, verdict.reason


@pytest.mark.parametrize(
    ("fill", "kind"),
    [
        ("out[:, :1] = x[:, :1]", VerdictKind.CONFIRMED),
        ("out[:] = x.mean()", VerdictKind.NOT_REPRODUCED),
    ],
)
def test_memory_that_is_used_before_it_is_filled_is_confirmed(tmp_path: Path, fill: str, kind: VerdictKind) -> None:
    verdict = verdict_on(written(tmp_path, PADDED.format(fill=fill)), "NAN601", "torch.empty")
    assert verdict.kind is kind, verdict.reason
