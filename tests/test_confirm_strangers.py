"""Code of strangers is run without a hook: missing packages, unknown objects, constructors that nobody can satisfy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")

from nanlint.model.verdict import Verdict, VerdictKind
from tests.confirm_projects import finding_at, verdicts_on, written

if TYPE_CHECKING:
    from pathlib import Path


def verdict_on(folder: Path, text: str, **hazard: str) -> Verdict:
    """The verdict on the line that is marked with `# here`."""
    return verdicts_on([finding_at(written(folder, text), **hazard)])[0]


MISSING_BASE = """
import torch
from somewhere_else.models import PreTrainedModel, auto_docstring


@auto_docstring(checkpoint="none")
class Head(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.project = torch.nn.Linear(config.hidden_size, 3)

    @auto_docstring
    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.project(x).sum() / mask.sum()  # here
"""
MIXED_BASES = """
import abc

import torch
from somewhere_else import GenerationMixin, Registered


class Head(torch.nn.Module, GenerationMixin, Registered, abc.ABC):
    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return x.sum() / mask.sum()  # here
"""


@pytest.mark.parametrize("text", [MISSING_BASE, MIXED_BASES], ids=["a model of a missing package", "mixed bases"])
def test_a_class_whose_base_is_missing_is_run_as_the_module_it_is(tmp_path: Path, text: str) -> None:
    verdict = verdict_on(tmp_path, text)
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "module")


def test_what_fails_in_another_file_of_the_package_is_left_out(tmp_path: Path) -> None:
    written(tmp_path, "", "package/__init__.py")
    written(
        tmp_path,
        "import os\n\nWHERE = os.environ['NOT_SET_ANYWHERE']\n\n\ndef scale():\n    return 2.0\n",
        "package/places.py",
    )
    text = """
        import torch
        from package.places import WHERE, scale


        def mean(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return scale() * x.sum() / mask.sum()  # here
        """
    verdict = verdicts_on([finding_at(written(tmp_path, text, "package/loss.py"))])[0]
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "function")
    assert "left out what failed at import" in (verdict.reason or "")


def test_a_decorator_that_fails_is_left_out(tmp_path: Path) -> None:
    text = """
        import torch
        import wrapped_elsewhere


        class checked:
            @wrapped_elsewhere.decorator
            def __call__(self, wrapped, instance, args, kwargs):
                return wrapped(*args, **kwargs)


        class Loss(torch.nn.Module):
            @checked()
            def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
                return x.sum() / mask.sum()  # here
        """
    verdict = verdict_on(tmp_path, text)
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "module")


def test_a_stub_computes_nothing_when_the_code_runs(tmp_path: Path) -> None:
    text = """
        import torch
        from somewhere_else import score


        def mean(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return (x + score(x)).sum() / mask.sum()  # here
        """
    verdict = verdict_on(tmp_path, text)
    assert verdict.kind is VerdictKind.NOT_RUNNABLE


def test_a_configuration_of_the_repository_is_constructed(tmp_path: Path) -> None:
    written(
        tmp_path,
        """
        from dataclasses import dataclass


        @dataclass
        class LossConfig:
            weight: float
            label: str = "loss"
        """,
        "settings.py",
    )
    text = """
        import torch
        from settings import LossConfig


        def mean(x: torch.Tensor, mask: torch.Tensor, config: LossConfig) -> torch.Tensor:
            return config.weight * x.sum() / mask.sum()  # here
        """
    verdict = verdict_on(tmp_path, text)
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "function")


TRAINER = """
import torch


class Trainer:
    def __init__(self, run: str) -> None:
        self.state = torch.load(run)
        self.model = self.state["model"]

    def loss(self, batch) -> torch.Tensor:
        scores = self.model(batch["input_ids"]).logits
        losses = scores.logsumexp(-1)
        return (losses * batch["mask"]).sum() / batch["mask"].sum()  # here
"""


def test_a_method_whose_class_cannot_be_constructed_runs_on_a_shell(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, TRAINER)
    assert (verdict.kind, verdict.level) == (VerdictKind.REACHABLE, "function")
    assert "`Trainer` was not constructed" in (verdict.reason or "")


def test_a_shell_of_an_abstract_class_has_what_its_properties_read(tmp_path: Path) -> None:
    text = """
        import abc
        import torch


        class Base(abc.ABC):
            def __init__(self, path: str) -> None:
                self._count = torch.load(path)

            @property
            def count(self) -> torch.Tensor:
                return self._count

            @abc.abstractmethod
            def forward(self) -> None: ...

            def mean(self, x: torch.Tensor) -> torch.Tensor:
                return x.sum() / self.count.sum()  # here
        """
    verdict = verdict_on(tmp_path, text)
    assert (verdict.kind, verdict.level) == (VerdictKind.REACHABLE, "function")


def test_what_fails_after_the_flagged_line_leaves_its_slice(tmp_path: Path) -> None:
    text = """
        import torch


        def train(x: torch.Tensor, mask: torch.Tensor, writer) -> None:
            loss = x.sum() / mask.sum()  # here
            raise RuntimeError("no such writer: " + repr(writer))
        """
    verdict = verdict_on(tmp_path, text)
    assert (verdict.kind, verdict.level) == (VerdictKind.REACHABLE, "slice")


def test_an_attribute_of_an_argument_is_an_argument_and_what_a_call_of_it_gives_is_none(tmp_path: Path) -> None:
    for name, read, kind in (
        ("attribute", "output.num_valid_items", VerdictKind.CONFIRMED),
        ("call", "output(x).num_valid_items", VerdictKind.REACHABLE),
    ):
        text = f"""
            import torch


            def mean(x: torch.Tensor, output) -> torch.Tensor:
                return x.sum() / {read}.float().sum()  # here
            """
        verdict = verdict_on(tmp_path / name, text)
        assert (verdict.kind, verdict.level) == (kind, "function")


def test_a_tensor_of_a_constructor_has_the_values_that_its_name_promises(tmp_path: Path) -> None:
    text = """
        import torch


        class Normalize(torch.nn.Module):
            def __init__(self, std: torch.Tensor) -> None:
                super().__init__()
                self.register_buffer("std", std)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return x / self.std  # here
        """
    assert verdict_on(tmp_path, text).kind is VerdictKind.NOT_REPRODUCED


def test_a_witness_lies_in_the_range_that_the_finding_states(tmp_path: Path) -> None:
    text = """
        import torch


        def volume(s: torch.Tensor) -> torch.Tensor:
            return torch.log(s).sum()  # here
        """
    path = written(tmp_path, text)
    told = finding_at(path, operation="torch.log", operand="s", zone="[0, 0]")
    assert told.hazard is not None
    bounded = replace(told, hazard=replace(told.hazard, range="[0, 1]"))
    reasons = [verdict.reason or "" for verdict in verdicts_on([told, bounded])]
    assert "s=[[0.0]]" in reasons[1], reasons


def test_code_written_with_einops_runs_where_it_is_missing(tmp_path: Path) -> None:
    text = """
        import torch
        from einops import rearrange, reduce, repeat
        from einops.layers.torch import Rearrange


        def pooled(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            b, n, d = x.shape
            wide = repeat(mask, "b n -> b n d", d=d)
            heads = rearrange(x * wide, "b n (h d) -> b h n d", h=d)
            total = reduce(heads, "b h n d -> b (h d)", "sum")
            return total / Rearrange("b n -> b n 1")(mask).sum(1)  # here
        """
    verdict = verdict_on(tmp_path, text)
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "function")


def test_the_test_before_a_raise_tells_the_shape_also_in_a_folder_named_after_torch(tmp_path: Path) -> None:
    text = """
        import torch


        def area(boxes: torch.Tensor) -> torch.Tensor:
            if boxes.shape[-1] != 7:
                raise ValueError("these are no boxes")
            return boxes[..., 0] / boxes[..., 6]  # here
        """
    verdict = verdict_on(tmp_path / "pytorch-boxes", text)
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "function")


def test_an_array_is_given_where_one_is_wanted(tmp_path: Path) -> None:
    text = """
        import torch


        def normalized(activations) -> torch.Tensor:
            maps = torch.from_numpy(activations)
            return (maps - maps.min()) / (maps.max() - maps.min())  # here
        """
    verdict = verdict_on(tmp_path, text)
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "function")


def test_an_argument_that_the_failure_does_not_need_is_left_out(tmp_path: Path) -> None:
    text = """
        import torch


        def mean(x: torch.Tensor, dropout=None, mask: torch.Tensor = None) -> torch.Tensor:
            x = x if mask is None else x * mask
            if dropout is None:
                return x.mean() / x.sum()  # here
            return x.sum()
        """
    verdict = verdict_on(tmp_path, text)
    assert verdict.kind is VerdictKind.CONFIRMED
    assert "mask" not in (verdict.reason or "")
    assert "dropout" not in (verdict.reason or "")


def test_an_argument_that_the_line_demands_is_given(tmp_path: Path) -> None:
    text = """
        import torch


        def mean(x: torch.Tensor, start: torch.Tensor = None, end: torch.Tensor = None, how: str = "sum") -> torch.Tensor:
            if start is None and end is None:
                return x.sum()
            if start is not None and end is not None and how == "mean":
                return x.sum() / (end - start).sum()  # here
            return x.mean()
        """
    verdict = verdict_on(tmp_path, text)
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "function")


def test_a_distribution_is_given_where_one_is_used(tmp_path: Path) -> None:
    text = """
        import torch


        def error(policy, target: torch.Tensor) -> torch.Tensor:
            return (policy.mean - target).abs() / (policy.log_prob(target).exp() * 0.0).sum()  # here
        """
    verdict = verdict_on(tmp_path, text)
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "function")


def test_shapes_that_belong_together_are_found(tmp_path: Path) -> None:
    text = """
        import torch


        def mean(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
            if logits.shape[:-1] != labels.shape:
                raise ValueError("logits and labels must have the same shape")
            kept = labels[:, 1:] != 0
            return (logits[:, 1:].logsumexp(-1) * kept).sum() / kept.sum()  # here
        """
    verdict = verdict_on(tmp_path, text)
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "function")


def test_a_broken_precondition_that_is_documented_is_told(tmp_path: Path) -> None:
    text = '''
        import torch


        def mean(x: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
            """The mean of what is kept.

            Args:
                x: the values.
                kept: which of them count; must be non-empty.
            """
            return (x * kept.bool()).sum() / kept.bool().sum()  # here
        '''
    verdict = verdict_on(tmp_path, text)
    assert verdict.kind is VerdictKind.CONFIRMED
    assert "breaks a documented precondition: kept: which of them count; must be non-empty" in (verdict.reason or "")


def test_an_average_of_nothing_is_not_what_a_root_is_blamed_for(tmp_path: Path) -> None:
    text = """
        import torch


        def size(x: torch.Tensor) -> torch.Tensor:
            part = x[:, 100:]
            return part.pow(2).mean().sqrt()  # here
        """
    verdict = verdict_on(tmp_path, text, operation="torch.sqrt", operand="part.pow(2).mean()")
    assert (verdict.kind, verdict.level) == (VerdictKind.NOT_REPRODUCED, "function")


def test_a_protocol_is_filled_by_a_stand_in(tmp_path: Path) -> None:
    text = """
        from typing import Protocol

        import torch


        class Batch(Protocol):
            returns: torch.Tensor


        def mean(x: torch.Tensor, batch: Batch) -> torch.Tensor:
            return x.sum() / batch.returns.sum()  # here
        """
    verdict = verdict_on(tmp_path, text)
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "function")


def test_an_autograd_function_is_reachable_through_its_callers_alone(tmp_path: Path) -> None:
    text = """
        import torch


        class Angle(torch.autograd.Function):
            @staticmethod
            def forward(ctx, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
                ctx.save_for_backward(query, key)
                return torch.acos((query * key).sum(-1))  # here
        """
    verdict = verdict_on(
        tmp_path, text, operation="torch.acos", operand="(query * key).sum(-1)", zone="outside [-1, 1]"
    )
    assert (verdict.kind, verdict.level) == (VerdictKind.REACHABLE, "function")
    assert "called through `apply`" in (verdict.reason or "")


def test_values_are_kept_in_the_range_that_the_code_demands(tmp_path: Path) -> None:
    text = """
        import torch


        def contrast(image: torch.Tensor) -> torch.Tensor:
            if image.min() < 0:
                raise ValueError("Expected values to be greater or equal to 0")
            return image.std() / image.max()  # here
        """
    verdict = verdict_on(tmp_path, text)
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "function")
    assert "-" not in str((verdict.witness or {})["arguments"])
