"""Levels are decided in one place, by numbers that the labels give."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import calibrate
from nanlint.api import check_paths, check_source
from nanlint.cli.main import main
from nanlint.evidence import levels, table
from nanlint.model import Severity
from nanlint.settings import Settings

EVERYTHING = Settings(select=("ALL",), preview=True, severity="info")
MEAN = """
import torch
def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()
"""
NOT_A_TENTH = 1  # a fit on another machine may round one number the other way


def test_the_table_is_what_the_labels_make_of_it() -> None:
    labels = calibrate.read_labels()
    for name in calibrate.COLUMNS:
        fitted = calibrate.fit(labels, name)
        stated = {item.name: getattr(item, name) for item in table.ITEMS.values()}
        assert {
            item: (stated[item], number)
            for item, number in fitted.numbers.items()
            if abs(stated[item] - number) > NOT_A_TENTH
        } == {}


def test_every_item_keeps_the_sign_it_states() -> None:
    assert [
        item.name for item in table.ITEMS.values() if item.can_happen * item.sign < 0 or item.matters * item.sign < 0
    ] == []


def test_the_scorecard_stays_small() -> None:
    assert len(table.ITEMS) <= 23


@pytest.mark.parametrize("code", sorted(levels.NAMED_PATTERNS))
def test_a_pattern_that_was_asked_for_is_shown_unless_something_seen_speaks_against_it(code: str) -> None:
    assert levels.level(code, frozenset()) is not Severity.INFO
    assert levels.level(code, frozenset({table.NO_GRADIENT.name, table.DECIDED_ELSEWHERE.name})) is Severity.INFO


def test_an_operand_of_which_nothing_is_known_is_info_at_most() -> None:
    everything_for_it = frozenset(item.name for item in table.ITEMS.values() if item.sign > 0)
    assert levels.level("NAN201", everything_for_it) is Severity.ERROR
    assert levels.level("NAN201", everything_for_it | {table.NOTHING_KNOWN.name}) is Severity.INFO


def test_a_finding_tells_its_evidence_and_both_confidences() -> None:
    (finding,) = check_source(MEAN, settings=EVERYTHING)
    assert "made-so" in finding.evidence
    assert finding.can_happen == round(levels.can_happen(finding.evidence), 2)
    assert finding.matters == round(levels.matters(finding.evidence), 2)


def test_explain_level_prints_a_sentence_for_every_item(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "loss.py").write_text(MEAN, encoding="utf-8")
    main(["check", "--isolated", "--no-cache", "--explain-level", "--output-format", "concise", str(tmp_path)])
    printed = capsys.readouterr().out
    assert table.MADE_SO.sentence in printed


@pytest.mark.parametrize(("beside", "is_told"), [("x = x.half()\n", True), ("x = half\n", False)])
def test_a_half_format_counts_where_the_project_uses_it(tmp_path: Path, beside: str, *, is_told: bool) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(beside, encoding="utf-8")
    (tmp_path / "norm.py").write_text(
        "import torch\nnorm = torch.nn.RMSNorm(8, eps=1e-10)\nnorm(x).sum().backward()\n", encoding="utf-8"
    )
    report = check_paths([tmp_path], select=["NAN204"], severity="info")
    assert [finding.code for finding in report.findings] == ["NAN204"] * is_told


@pytest.mark.parametrize(
    ("script", "is_called"),
    [
        ("loss.backward()\n", False),
        ("from loss import (\n    masked_mean,\n)\nloss.backward()\n", False),
        ("loss = masked_mean(a, b)\nloss.backward()\n", True),
        ("print()\n", True),
    ],
    ids=["a training script that does not name it", "imports it", "calls it", "a library"],
)
def test_a_function_that_nothing_names_matters_less(tmp_path: Path, script: str, *, is_called: bool) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text(script, encoding="utf-8")
    (tmp_path / "loss.py").write_text(MEAN, encoding="utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_loss.py").write_text("masked_mean(1, 1)\n", encoding="utf-8")
    report = check_paths([tmp_path / "loss.py"], severity="info")
    assert ["nobody-calls" not in finding.evidence for finding in report.findings] == [is_called]


METHODS = """
import torch
class Net(Base):
    def training_step(self, values, mask):
        return (values * mask).sum() / mask.sum()
    def epoch_end(self, values, mask):
        return (values * mask).sum() / mask.sum()
class Critic(Net):
    def epoch_end(self, values, mask):
        return self.history
class Head(Net):
    def __init__(self):
        super(Head, self).__init__()
    def forward(self, values, mask):
        return (values * mask).sum() / mask.sum()
"""


def test_methods_may_be_called_by_a_framework(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(METHODS, encoding="utf-8")
    findings = check_paths([tmp_path], select=["NAN101"], severity="info").findings
    assert [(each.function, "nobody-calls" in each.evidence) for each in findings] == [
        ("Net.training_step", False),
        ("Net.epoch_end", False),
        ("Head.forward", True),
    ]


def test_one_file_alone_gets_the_levels_that_it_gets_with_its_project(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text("loss.backward()\n", encoding="utf-8")
    (tmp_path / "loss.py").write_text(MEAN, encoding="utf-8")
    alone, together = (check_paths([path], severity="info") for path in (tmp_path / "loss.py", tmp_path))
    assert alone.findings == together.findings


def test_a_rule_of_a_users_own_states_its_severity() -> None:
    rules = Path(__file__).resolve().parent / "data" / "local_rules"
    settings = Settings(select=("LOC",), local_rules=(str(rules),), severity="info")
    found = check_source("import torch\ndef f(x):\n    return torch.log(x)\n", settings=settings)
    assert [finding.matters for finding in found] == [None]


HELPER = """
import torch
def compute_scores(x, temperature):
    weights = torch.exp((1 - x) / temperature)
    return weights / weights.sum(dim=-1, keepdim=True)
def contrastive_loss(x, y):
    scores = compute_scores(x, 0.1)
    (scores * y).mean().backward()
"""


def test_what_a_loss_of_the_file_uses_is_a_part_of_it() -> None:
    (found,) = (each for each in check_source(HELPER, settings=EVERYTHING) if each.code == "NAN202")
    assert table.IN_A_LOSS.name in found.evidence
    assert table.NOT_TRAINED_BY_NAME.name not in found.evidence


def test_a_layer_that_is_made_once_is_judged_by_what_its_class_does() -> None:
    source = """
import torch
class Aligner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.ctc = torch.nn.CTCLoss()
    def forward(self, *args):
        return self.ctc(*args)
"""
    (found,) = (each for each in check_source(source, settings=EVERYTHING) if each.code == "NAN109")
    assert table.NOT_TRAINED_BY_NAME.name not in found.evidence


def test_the_scale_of_a_distribution_is_made_of_a_log_variance() -> None:
    source = """
import torch
def policy(mean, log_std):
    return torch.distributions.Normal(mean, log_std.exp())
"""
    (found,) = check_source(source, settings=EVERYTHING)
    assert (found.code, table.MADE_SO.name in found.evidence) == ("NAN201", True)


EVALUATION = """
import torch
import torch
from net import Net
def shown(map):
    return (map - map.min()) / (map.max() - map.min())
if __name__ == "__main__":
    net = Net()
    net.load_state_dict(torch.load("net.pt"))
    save_picture(shown(net(torch.rand(1, 3))))
"""


@pytest.mark.parametrize(
    ("name", "code", "beside", "only_runs"),
    [
        ("evaluate.py", EVALUATION, "", True),
        ("evaluate_test.py", EVALUATION, "", True),
        ("evaluate.py", EVALUATION, "import evaluate\n", False),
        ("tune.py", EVALUATION + "    shown(net(1)).sum().backward()\n", "", False),
        ("main.py", EVALUATION + "    net.train_one_epoch(shown)\n", "", False),
        ("features.py", EVALUATION + "    torch.save(shown(net(1)), path)\n", "", False),
        ("maps.py", EVALUATION.partition("if __name__")[0], "", False),
    ],
    ids=["a script", "called like a test", "imported", "trains", "has it trained", "writes data", "loads nothing"],
)
def test_what_breaks_in_a_script_that_only_runs_a_model_matters_less(
    tmp_path: Path, name: str, code: str, beside: str, *, only_runs: bool
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text("import torch\nclass Net(torch.nn.Module):\n    pass\n", encoding="utf-8")
    (tmp_path / "train.py").write_text(f"import torch\n{beside}shown(1)\nloss.backward()\n", encoding="utf-8")
    (tmp_path / name).write_text(code, encoding="utf-8")
    (found,) = check_paths([tmp_path / name], select=["NAN101"], severity="info").findings
    assert ("nobody-calls" in found.evidence, found.severity is Severity.INFO) == (only_runs, only_runs)


UNIT = """
import torch
from torch.nn import functional as F
def unit_loss(x, rays, mask, index):
    lines = F.linear(x, rays)
    rows = {rows}
    return (rows / rows.norm(dim=-1, keepdim=True)).sum()
"""


@pytest.mark.parametrize(
    ("rows", "is_rare"),
    [
        ("lines", True),
        ("torch.cat([lines, 2 * lines], -1)", True),
        ("rays", False),
        ("torch.cat([rays, lines], -1)", False),
        ("F.relu(F.linear(x, rays))", False),
        ("x * (mask > 0)", False),
        ("rays * mask", False),
        ("x[index] - x[:, None]", False),
        ("x.masked_fill(mask, 0.0).reshape(4, -1)", False),
    ],
)
def test_rows_that_are_zero_by_coincidence_alone_are_rare(rows: str, *, is_rare: bool) -> None:
    (found,) = (each for each in check_source(UNIT.format(rows=rows), settings=EVERYTHING) if each.code == "NAN101")
    assert (table.RARE.name in found.evidence, found.severity is Severity.INFO) == (is_rare, is_rare)


TALLY = """
import torch
def accuracy(labels, guesses, weights):
    table = torch.zeros(4, 4)
    for label, guess, weight in zip(labels, guesses, weights):
        table[label, guess] += {step}
    return torch.trace(table) / torch.sum(table)
"""


@pytest.mark.parametrize(("step", "is_rare"), [("1", True), ("weight", False)])
def test_a_tally_of_all_that_a_loop_has_seen_is_rarely_zero(step: str, *, is_rare: bool) -> None:
    (found,) = check_source(TALLY.format(step=step), settings=EVERYTHING)
    assert (table.RARE.name in found.evidence) is is_rare


GRID = """
import torch
class Grid(torch.nn.Module):
    def __init__(self, low, high):
        super().__init__()
        self.register_buffer("low", torch.Tensor(low))
        self.register_buffer("high", torch.Tensor(high))
        self.weight = torch.nn.Parameter(torch.ones(3))
    def fit(self, x):
        self.least, self.most = x.min(), x.max()
    def forward(self, x, box, a, b):
        return self.weight * ((x - {low}) / ({high} - {low}))
"""


@pytest.mark.parametrize(
    ("low", "high", "is_rare"),
    [
        ("self.low", "self.high", True),
        ("box[0]", "box[1]", True),
        ("self.box[0]", "self.box[1]", True),
        ("self.least", "self.most", False),
        ("x.min()", "x.max()", False),
        ("a", "b", False),
    ],
)
def test_a_range_whose_ends_are_given_is_rarely_empty(low: str, high: str, *, is_rare: bool) -> None:
    findings = check_source(GRID.format(low=low, high=high), settings=EVERYTHING)
    (found,) = (each for each in findings if each.code == "NAN101")
    assert (table.RARE.name in found.evidence) is is_rare


MODEL = """
import torch
class Gate(torch.nn.Module):
    def forward(self, x, mask):
        return (x * mask).sum() / mask.sum()
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = torch.nn.ModuleList([Gate() for _ in range(2)])
    def forward(self, x, mask):
        for gate in self.gates:
            x = gate(x, mask)
        return x
"""
HANDED_OVER = """
import torch
from net import Net
def run(model, accelerator, loader):
    for x, mask in loader:
        accelerator.backward(model(x, mask))
net = Net()
run(net, accelerator, loader)
"""
AT_THE_TOP = """
import torch
from net import Net
net = Net()
def loss_of(x, mask):
    return net(x, mask) + 1
for x, mask in loader:
    loss_of(x, mask).backward()
"""


@pytest.mark.parametrize("script", [HANDED_OVER, AT_THE_TOP])
def test_the_output_of_a_model_is_followed_to_the_backward(tmp_path: Path, script: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "net.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "train.py").write_text(script, encoding="utf-8")
    (found,) = check_paths([tmp_path / "net.py"], select=["NAN101"], severity="info").findings
    assert table.REACHES_BACKWARD.name in found.evidence


STEP = """
import torch
class Normed(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.data.add_(p.grad / p.grad.norm(), alpha=-group["lr"])
"""


def test_what_an_optimizer_does_to_the_weights_is_training() -> None:
    (found,) = (each for each in check_source(STEP, settings=EVERYTHING) if each.code == "NAN101")
    assert {table.NO_GRADIENT.name, table.NOT_TRAINED_BY_NAME.name}.isdisjoint(found.evidence)


SUBCLASS = """
from torch import nn
class Masked(nn.CrossEntropyLoss):
    def __init__(self, reduction):
        super().__init__(reduction=REDUCTION)
    def forward(self, logits, labels, mask=None):
        if mask is not None:
            logits, labels = logits[mask.bool()], labels[mask.bool()]
        return super().forward(logits, labels)
"""


@pytest.mark.parametrize(("reduction", "codes"), [('"mean"', ["NAN108"]), ('"sum"', [])])
def test_what_is_above_a_class_is_the_layer_that_it_was_built_as(reduction: str, codes: list[str]) -> None:
    found = check_source(SUBCLASS.replace("REDUCTION", reduction), settings=EVERYTHING)
    assert [each.code for each in found] == codes
