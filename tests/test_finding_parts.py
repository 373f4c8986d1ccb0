"""The places that a finding points at beside its own, as the rules choose them."""

from __future__ import annotations

import json

import pytest

from nanlint.engine.check_file import check_notebook
from nanlint.engine.checker import Checker
from nanlint.settings import Settings
from nanlint.testing import findings_in

RULESET = Checker(gated=True).ruleset(Settings(select=("NAN110",), severity="info"))

LOOP = """\
import torch
from torch import nn
model, optimizer = nn.Linear(2, 1), None
def train(batches, config, checkpoint):
    optimizer = torch.optim.SGD(model.parameters(), lr=config.lr)
    for batch in batches:
        optimizer.zero_grad()
        loss = model(batch).mean()
"""

LABELLED = {
    "the earlier check": (
        "NAN403",
        f"""{LOOP}
        if not torch.isfinite(loss):
            continue
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
""",
        [("not torch.isfinite(loss)", "only the loss is checked here")],
    ),
    "the step": (
        "NAN405",
        f"""{LOOP}
        loss.backward()
        if not torch.isfinite(loss):
            print(loss)
        optimizer.step()
""",
        [("optimizer.step()", "the step is made all the same")],
    ),
    "where the others wait": (
        "NAN409",
        f"""{LOOP.replace("nn.Linear(2, 1)", "nn.parallel.DistributedDataParallel(nn.Linear(2, 1))")}
        if not torch.isfinite(loss):
            continue
        loss.backward()
        optimizer.step()
""",
        [("loss.backward()", "the other ranks wait here")],
    ),
    "the softmax": (
        "NAN110",
        "import torch\ndef f(x):\n    p = x.softmax(-1)\n    return -p.log().mean()\n",
        [("x.softmax(-1)", "the softmax is made here")],
    ),
    "a softmax in the same expression": ("NAN110", "import torch\ndef f(x):\n    return x.softmax(-1).log()\n", []),
    "a denominator": (
        "NAN101",
        "import torch\ndef f(x, y):\n    count = (y > 0).sum()\n    return x.sum() / count\n",
        [("(y > 0).sum()", "it is made here")],
    ),
    "a denominator in the division": ("NAN101", "import torch\ndef f(x, y):\n    return x.sum() / (y > 0).sum()\n", []),
    "a bound": (
        "NAN401",
        "import torch\ndef f(model):\n    limit = 1e6\n    torch.nn.utils.clip_grad_norm_(model.parameters(), limit)\n",
        [("1e6", "the bound is set here")],
    ),
    "the softmax of masked rows": (
        "NAN107",
        """import torch
def f(scores, queries, keys):
    scores = scores.masked_fill(queries[:, :, None] | keys[:, None, :], float("-inf"))
    return torch.softmax(scores, dim=-1)
""",
        [("torch.softmax(scores, dim=-1)", "the softmax is taken here")],
    ),
    "a setting that is overridden": (
        "NAN501",
        """import torch
def resume(model, config, checkpoint):
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=9)
    scheduler.load_state_dict(checkpoint)
""",
        [("config.lr", "the saved state overrides this setting")],
    ),
    "the other key": (
        "NAN602",
        "from transformers import TrainingArguments\nTrainingArguments('out', learning_rate=1e-4, fp16=True, bf16=True)\n",
        [("fp16=True", "the other setting")],
    ),
}


@pytest.mark.parametrize("case", LABELLED)
def test_a_label_is_on_the_other_place_that_matters(case: str) -> None:
    code, text, expected = LABELLED[case]
    (finding,) = findings_in(text, code)
    lines = text.splitlines()
    spans = [(label.span, label.text) for label in finding.labels]
    assert [(lines[span.line - 1][span.column - 1 : span.end_column - 1], told) for span, told in spans] == expected


def labels_in_notebook(*cells: str) -> list[list[tuple[int, str]]]:
    """Line and text of the labels of each NAN110 in a notebook."""
    written = [{"cell_type": "code", "metadata": {}, "source": cell, "outputs": []} for cell in cells]
    data = json.dumps({"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
    found = check_notebook(data, "a.ipynb", RULESET).findings
    return [[(label.span.line, label.text) for label in finding.labels] for finding in found]


def test_a_label_counts_its_lines_within_the_cell() -> None:
    cells = ("import torch\nx = torch.randn(3)", "p = x.softmax(-1)\nq = p.log().mean()")
    assert labels_in_notebook(*cells) == [[(1, "the softmax is made here")]]


def test_a_label_in_another_cell_is_left_out() -> None:
    cells = ("import torch\nx = torch.randn(3)\np = x.softmax(-1)", "q = p.log().mean()")
    assert labels_in_notebook(*cells) == [[]]
