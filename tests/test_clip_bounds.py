"""Where the bound of a clip comes from: helpers, settings with a default, branches; and what is no bound that clips nothing."""

from __future__ import annotations

import pytest

from nanlint.api import check_source
from nanlint.settings import Settings

HEAD = "import torch\nfrom torch.nn.utils import clip_grad_norm_\n"


def told(code: str) -> list[str]:
    return [finding.message for finding in check_source(HEAD + code, settings=Settings(select=("NAN401",)))]


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            "def f(m, bound):\n    clip_grad_norm_(m.parameters(), bound if bound < 10 else 1.0)\n", id="a guard"
        ),
        pytest.param("def f(m):\n    clip_grad_norm_(m.parameters(), min(1e6, 1.0))\n", id="the smaller of two"),
        pytest.param("def f(m):\n    clip_grad_norm_(m.parameters(), 1.0, 1e6)\n", id="the kind of norm"),
    ],
)
def test_a_bound_that_clips_is_silent(code: str) -> None:
    assert told(code) == []


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            "def f(m, args):\n    clip_grad_norm_(m.parameters(), getattr(args, 'clip', 1e6))\n", id="getattr"
        ),
        pytest.param("def f(m, args):\n    clip_grad_norm_(m.parameters(), args.get('clip', 1e6))\n", id="get"),
        pytest.param("def f(m, s):\n    clip_grad_norm_(m.parameters(), 1.0 if s else 1e6)\n", id="a branch"),
        pytest.param(
            "def _clip(m, bound):\n    clip_grad_norm_(m.parameters(), bound)\n\ndef f(m):\n    _clip(m, 1e6)\n",
            id="a helper",
        ),
        pytest.param(
            "C = {'a': {'clip': 1e6}}\ndef f(m):\n    clip_grad_norm_(m.parameters(), C['a']['clip'])\n", id="a dict"
        ),
        pytest.param(
            "def f(m):\n    torch.nn.utils.clip_grads_with_norm_(m.parameters(), 1e6, m.norm)\n", id="a given norm"
        ),
    ],
)
def test_a_bound_that_never_clips_is_told_of(code: str) -> None:
    assert len(told(code)) == 1
    assert "1e+06" in told(code)[0] or "1e6" in told(code)[0]
