"""Findings in, verdicts out: what is confirmed fails, again and again, until the fix is in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch", reason="torch is not installed, so no code can be run")

from nanlint.engine.fixing.edits import apply_edits
from nanlint.model.verdict import Plausibility, Verdict, VerdictKind
from tests.confirm_projects import LEARNED, MEAN, finding_at, found_in, verdicts_on, written

if TYPE_CHECKING:
    from pathlib import Path

GUARDED = """
import torch


def masked_mean(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (values * mask).sum() / mask.sum().clamp(min=1)  # here
"""
OTHER_LINE = """
import torch


def f(x: torch.Tensor) -> torch.Tensor:
    logs = x.log()
    return logs / 2.0  # here
"""
ROOT = """
import torch


def length(x: torch.Tensor) -> torch.Tensor:
    return x.pow(2).sum(-1).sqrt()  # here
"""
UNREACHABLE = """
import torch


def f(handle):
    count = handle.open_the_only_right_one("secret").sum()
    return torch.ones(()) / count  # here
"""
HOOKED = (
    UNREACHABLE
    + """

class Handle:
    def __init__(self, x):
        self.x = x

    def open_the_only_right_one(self, word):
        assert word == "secret"
        return self.x


def nanlint_inputs():
    yield f, {"handle": Handle(torch.zeros(3))}
"""
)
EXAMPLE = '''
import torch


def f(box: object) -> torch.Tensor:
    """Divide.

    >>> f({"only": torch.zeros(2)})
    """
    return torch.ones(()) / box["only"].sum()  # here
'''
FLAKY = """
import time

import torch

STARTED = time.time_ns()


def f(x: torch.Tensor) -> torch.Tensor:
    return x / (0.0 if STARTED // 1_000_000_000 < LIMIT else 1.0)  # here
"""
HALF = """
import torch


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.normalize(x, dim=-1)  # here
"""
MIXED = """
import torch


def f(x: torch.Tensor) -> torch.Tensor:
    return (x @ x.T).sqrt()  # here
"""
LARGE = """
import torch


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.exp(x * x)  # here
"""
TINY = """
import torch


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.exp(x * 1e-10)  # here
"""


def verdict_on(folder: Path, text: str, *, options: dict[str, Any] | None = None, **more: Any) -> Verdict:
    return verdicts_on([finding_at(written(folder, text), **more)], **(options or {}))[0]


def test_a_failing_function_is_confirmed_with_the_smallest_witness(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, MEAN)
    assert (verdict.kind, verdict.plausibility, verdict.level) == (VerdictKind.CONFIRMED, Plausibility.EDGE, "function")
    assert verdict.witness is not None
    assert verdict.witness["arguments"] == {"values": [[0.0]], "mask": [[False]]}


def test_a_guarded_function_is_not_reproduced(tmp_path: Path) -> None:
    assert verdict_on(tmp_path, GUARDED).kind is VerdictKind.NOT_REPRODUCED


def test_the_failure_of_another_line_confirms_nothing_and_is_told(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, OTHER_LINE)
    assert verdict.kind is VerdictKind.NOT_REPRODUCED
    assert "line 5 makes" in (verdict.reason or "")


def test_a_gradient_is_enough(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, ROOT, operation="torch.sqrt")
    assert (verdict.kind, verdict.direction) == (VerdictKind.CONFIRMED, "backward")


def test_a_module_is_built_and_its_parameters_are_brought_to_their_corners(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, LEARNED, operand="self.temperature")
    assert (verdict.level, verdict.how) == ("module", "forced parameters: temperature = 0")


def test_a_slice_is_reachable_and_never_confirmed(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, UNREACHABLE, operand="count")
    assert (verdict.kind, verdict.level) == (VerdictKind.REACHABLE, "slice")
    assert "fails if `count` can be" in (verdict.reason or "")


def test_a_hook_makes_it_runnable(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, HOOKED)
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "function")


def test_an_example_in_a_docstring_is_a_call(tmp_path: Path) -> None:
    assert verdict_on(tmp_path, EXAMPLE).kind is VerdictKind.CONFIRMED


def test_hooks_of_the_project_have_a_file_of_their_own(tmp_path: Path) -> None:
    hook = HOOKED.partition("class Handle")[2]
    written(tmp_path, f"import torch\n\nfrom model import f\n\n\nclass Handle{hook}", "nanlint_hooks.py")
    assert verdict_on(tmp_path, UNREACHABLE).level == "function"


def test_the_settings_supply_arguments(tmp_path: Path) -> None:
    odd = "import torch\n\n\ndef f(x, k):\n    assert k == 77 and x.shape == (5, 7)\n    return x / x.sum()  # here\n"
    given = {"model:f": {"k": 77, "x": {"shape": [5, 7], "domain": "nonneg"}}}
    verdict = verdicts_on([finding_at(written(tmp_path, odd))], inputs=given)[0]
    assert (verdict.kind, verdict.level) == (VerdictKind.CONFIRMED, "function")


def test_a_failure_that_a_fresh_process_does_not_show_is_flaky(tmp_path: Path) -> None:
    import time  # noqa: PLC0415 - for this test only

    text = FLAKY.replace("LIMIT", str(int(time.time()) + 10_000))
    path = written(tmp_path, text)
    counter = tmp_path / "ran"
    path.write_text(
        path.read_text().replace("0.0 if", f"0.0 if not __import__('os').path.exists({str(counter)!r}) and")
    )
    from nanlint.confirm.harness import Harness  # noqa: PLC0415 - to see the replay go another way

    asked = Harness.ask

    def ask(self: Harness, job: dict[str, Any]) -> dict[str, Any]:
        if job["do"] == "replay":
            counter.write_text("")
        return asked(self, job)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Harness, "ask", ask)
        verdict = verdicts_on([finding_at(path)])[0]
    assert (verdict.kind, "a replay in a fresh process gave a finite result" in (verdict.reason or "")) == (
        VerdictKind.FLAKY,
        True,
    )


def test_half_precision_is_run_on_the_cpu(tmp_path: Path) -> None:
    half = verdict_on(tmp_path, HALF, operation="torch.nn.functional.normalize", dtypes=("float16",))
    single = verdict_on(tmp_path, HALF, operation="torch.nn.functional.normalize", dtypes=("float32",))
    assert (half.kind, half.dtype, single.kind) == (VerdictKind.CONFIRMED, "float16", VerdictKind.NOT_REPRODUCED)


def test_mixed_precision_is_emulated_and_said_so(tmp_path: Path) -> None:
    verdict = verdict_on(tmp_path, MIXED, operation="torch.sqrt", options={"amp": "float16"})
    assert verdict.device == "cpu (CUDA autocast emulated)"


def test_a_cap_on_plausibility_holds(tmp_path: Path) -> None:
    wide = verdict_on(tmp_path, LARGE, operation="torch.exp")
    edge = verdict_on(tmp_path, LARGE, operation="torch.exp", options={"max_plausibility": Plausibility.ORDINARY})
    assert (wide.kind, edge.kind) == (VerdictKind.CONFIRMED, VerdictKind.NOT_REPRODUCED)


def test_extreme_values_are_information_and_no_proof(tmp_path: Path) -> None:
    extreme = {"max_plausibility": Plausibility.EXTREME}
    verdict = verdict_on(tmp_path, TINY, operation="torch.exp", options=extreme)
    assert (verdict.kind, verdict.plausibility) == (VerdictKind.NOT_REPRODUCED, Plausibility.EXTREME)
    assert "extreme values only" in (verdict.reason or "")


def test_the_same_seed_gives_the_same_verdict(tmp_path: Path) -> None:
    first, second = (verdict_on(tmp_path, LEARNED, operand="self.temperature") for _ in range(2))
    assert (first.witness, first.evaluations) == (second.witness, second.evaluations)


def test_a_fix_is_verified_by_running_it(tmp_path: Path) -> None:
    path = written(tmp_path, "import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.log(torch.softmax(x, -1))\n")
    findings = found_in(path, "NAN110")
    verdicts = verdicts_on(findings)
    assert [(verdict.kind, verdict.fix_verified) for verdict in verdicts] == [(VerdictKind.CONFIRMED, True)]
    assert findings[0].fix is not None
    path.write_text(apply_edits(path.read_text(), [findings[0].fix])[0])
    assert found_in(path, "NAN110") == []


def test_a_loop_is_driven_with_a_fault(tmp_path: Path) -> None:
    loop = """
    import torch


    def train(model, optimizer, batches):
        for batch in batches:
            loss = model(batch).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()  # here
    """
    verdict = verdict_on(tmp_path, loop, code="NAN411")
    assert (verdict.kind, verdict.how, verdict.direction) == (VerdictKind.CONFIRMED, "injected fault", "loop")


def test_a_file_that_is_gone_or_broken_is_one_verdict_among_others(tmp_path: Path) -> None:
    whole, gone = written(tmp_path, MEAN), written(tmp_path, MEAN, "gone.py")
    findings = [finding_at(whole), finding_at(gone)]
    gone.unlink()
    assert [verdict.kind for verdict in verdicts_on(findings)] == [VerdictKind.CONFIRMED, VerdictKind.NOT_RUNNABLE]


def test_what_cannot_run_prints_the_hook_to_paste(tmp_path: Path) -> None:
    stuck = "import torch\n\n\ndef f(x):\n    raise ValueError('only on Mondays')\n    return y.undefined / x.sum()  # here\n"
    verdict = verdict_on(tmp_path, stuck)
    assert verdict.kind in {VerdictKind.NOT_RUNNABLE, VerdictKind.REACHABLE}
    if verdict.kind is VerdictKind.NOT_RUNNABLE:
        assert "def nanlint_inputs(): yield f" in (verdict.reason or "")


def test_a_verdict_survives_the_way_through_json() -> None:
    verdict = Verdict(VerdictKind.CONFIRMED, Plausibility.EDGE, how="input only", witness={"a": 1}, fix_verified=True)
    assert Verdict.from_json(verdict.to_json()) == verdict


@pytest.mark.gpu
def test_on_a_gpu_the_verdict_names_it(tmp_path: Path) -> None:
    import torch  # noqa: PLC0415 - may be missing

    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    verdict = verdict_on(tmp_path, MEAN, options={"device": "cuda"})
    assert (verdict.kind, (verdict.device or "").startswith("cuda:")) == (VerdictKind.CONFIRMED, True)


@pytest.mark.gpu
def test_findings_go_round_several_gpus(tmp_path: Path) -> None:
    import torch  # noqa: PLC0415 - may be missing

    if torch.cuda.device_count() < 2:
        pytest.skip("there are no two CUDA devices")
    finding = finding_at(written(tmp_path, MEAN))
    devices = {verdict.device for verdict in verdicts_on([finding] * 4, device="cuda")}
    assert {"cuda:0", "cuda:1"} <= devices


TINY_EPS = """
import torch


def inverse(x: torch.Tensor) -> torch.Tensor:
    return 1.0 / (x.abs() + 1e-8)  # here
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtypes", "uses_half", "kind"),
    [
        (("float16",), True, VerdictKind.CONFIRMED),
        (("float16",), False, VerdictKind.REACHABLE),
        (("float16", "float32"), True, VerdictKind.CONFIRMED),
        (("float16", "float32"), False, VerdictKind.NOT_REPRODUCED),
    ],
)
def test_what_fails_in_a_half_format_that_the_project_does_not_use_is_not_confirmed(
    tmp_path: Path, dtypes: tuple[str, ...], *, uses_half: bool, kind: VerdictKind
) -> None:
    finding = finding_at(written(tmp_path, TINY_EPS), dtypes=dtypes)
    (verdict,) = verdicts_on([finding], uses_half=uses_half)
    assert verdict.kind is kind, verdict
    unused = kind is VerdictKind.REACHABLE
    assert ("in float16, which nothing in the project uses" in (verdict.reason or "")) is unused
    (asked,) = verdicts_on([finding], uses_half=uses_half, dtype="float16")
    assert asked.kind is VerdictKind.CONFIRMED
