"""Sources as strangers have them: names of torch's that mean something else, odd bytes, odd forms."""

from __future__ import annotations

import pytest

from nanlint.engine.check_file import check_bytes, check_text
from nanlint.engine.checker import Checker
from nanlint.settings import Settings

EVERYTHING = Settings(select=("ALL",), preview=True, severity="info")
PLAIN = 'import torch\n\n\ndef f(x):\n    """Résumé."""\n    p = x.softmax(-1)\n    return p.log()\n'


def told(text: str, *, gated: bool = True) -> list[tuple[str, int]]:
    """Code and line of every finding; nothing may fail."""
    result = check_text(text, "strange.py", Checker(gated=gated).ruleset(EVERYTHING))
    assert result.errors == []
    return [(finding.code, finding.span.line) for finding in result.findings]


@pytest.mark.parametrize(
    "binding",
    [
        pytest.param("torch = other", id="assigned"),
        pytest.param("for torch in other: pass", id="a loop"),
        pytest.param("with other as torch: pass", id="a context"),
        pytest.param("def torch(): pass", id="a function"),
        pytest.param("class torch: pass", id="a class"),
        pytest.param("import numpy as torch", id="another library"),
        pytest.param("del torch", id="deleted"),
        pytest.param("if (torch := other): pass", id="a walrus"),
        pytest.param("try: pass\n    except E as torch: pass", id="an exception"),
        pytest.param("match other:\n        case {'a': torch}: pass", id="a pattern"),
        pytest.param("global torch; torch = other", id="a global"),
    ],
)
def test_what_took_the_name_of_torch_is_not_torch(binding: str) -> None:
    text = f"import torch\ndef f(x, other):\n    {binding}\n    return torch.log(torch.softmax(x, -1))\n"
    assert told(text) == told(text, gated=False) == []


@pytest.mark.parametrize(
    "function",
    [
        pytest.param("def f(x, torch): return torch.log(torch.softmax(x, -1))", id="a parameter"),
        pytest.param("def f(x): return [torch.log(torch.softmax(x, -1)) for torch in x]", id="a comprehension"),
        pytest.param("f = lambda x, torch: torch.log(torch.softmax(x, -1))", id="a lambda"),
    ],
)
def test_a_parameter_called_torch_is_not_torch(function: str) -> None:
    assert told(f"import torch\n{function}\n") == []


@pytest.mark.parametrize(
    "head",
    [
        pytest.param("import torch as th\nlog, softmax = th.log, th.softmax", id="names for functions"),
        pytest.param("from torch import log as log, softmax", id="imported functions"),
        pytest.param("from torch import *", id="a star"),
        pytest.param("import torch\nlog = getattr(torch, 'log')\nfrom torch import softmax", id="getattr"),
    ],
)
def test_torch_under_other_names_is_torch_or_unknown(head: str) -> None:
    text = f"{head}\ndef f(x): return log(softmax(x, -1))\n"
    assert told(text) == told(text, gated=False)
    assert "getattr" in text or [code for code, _ in told(text)] == ["NAN110"]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        pytest.param(PLAIN.encode(), 7, id="plain"),
        pytest.param(PLAIN.replace("\n", "\r\n").encode(), 7, id="CRLF"),
        pytest.param(PLAIN.replace("\n", "\r").encode(), 7, id="carriage returns"),
        pytest.param(b"\xef\xbb\xbf" + PLAIN.encode(), 7, id="a byte order mark"),
        pytest.param(("# coding: latin-1\n" + PLAIN).encode("latin-1"), 8, id="latin-1"),
        pytest.param(("# coding: cp1252\n" + PLAIN).encode("cp1252"), 8, id="cp1252"),
        pytest.param(PLAIN.replace("    ", "\t").encode(), 7, id="tabs"),
        pytest.param(PLAIN.replace("def f", "\x0cdef f").replace("    p", "\x0c    p").encode(), 7, id="form feeds"),
        pytest.param(PLAIN.replace("Résumé", "a\x0bb\x1cc\x85d\u2028e").encode(), 7, id="lines that are none"),
        pytest.param(PLAIN.replace("p = x.", "p = \\\n  x \\\n  .").encode(), 9, id="continued lines"),
        pytest.param(PLAIN.replace("\n    return", "; return").encode(), 6, id="two statements in a line"),
        pytest.param(PLAIN.rstrip().encode(), 7, id="no last newline"),
    ],
)
def test_bytes_of_every_kind_are_read_and_placed(data: bytes, line: int) -> None:
    result = check_bytes(data, "strange.py", Checker(gated=True).ruleset(EVERYTHING))
    assert ([(each.code, each.span.line) for each in result.findings], result.errors) == ([("NAN110", line)], [])


def _nested(opening: str, depth: int) -> str:
    return "".join("    " * (level + 1) + opening.replace("#", str(level)) + "\n" for level in range(depth))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(_nested("if x.sum() > #:", 90) + "    " * 91 + "y = x / x.sum()\n", id="conditions"),
        pytest.param(_nested("for a# in x:", 19) + "    " * 20 + "x = x / x.sum()\n", id="loops"),
        pytest.param(_nested("while x[#].sum() > 0:", 19) + "    " * 20 + "x = x.log()\n", id="loops with a condition"),
        pytest.param(_nested("def f#(x):", 90) + "    " * 91 + "return x.log()\n", id="functions"),
        pytest.param("    y = " + "torch.relu(" * 80 + "x" + ")" * 80 + "\n", id="calls"),
        pytest.param("    y = " + "lambda: " * 90 + "x.log()\n", id="lambdas"),
    ],
)
def test_however_deep_it_is_nested_the_rest_is_judged(body: str) -> None:
    text = f"import torch\ndef f(x):\n{body}    return torch.log(x.softmax(-1))\n"
    assert ("NAN110", text.count("\n")) in told(text)


def test_arguments_that_no_operation_takes_are_survived() -> None:
    calls = "log div where clamp softmax sum norm pow sqrt einsum full empty std mean exp bmm cumsum logsumexp".split()  # noqa: SIM905 - one line
    forms = ("()", "(1)", "(*x)", "(**x)", "(x, x, x, x, x)", "(y=x)", "('a')", "(None)", "()()", "(10 ** 400, -1e999)")
    lines = {
        call: [f"    torch.{call}{form}; x.{call}{form}; x / torch.{call}{form}\n" for form in forms] for call in calls
    }
    text = "import torch\n" + "".join(f"def f_{call}(x):\n{''.join(lines[call])}    return x\n" for call in calls)
    assert told(text) == told(text, gated=False)


def test_operands_that_stand_in_a_list_or_a_dictionary_are_unknown() -> None:
    expressions = [
        "torch.log(torch.softmax(x, -1), **k)",
        "torch.log(torch.sub(torch.exp(x), **k))",
        "torch.sqrt(torch.sub(*x))",
        "torch.sqrt(torch.sub(x.pow(2).mean(), **k) + 1e-5)",
        "torch.sqrt(torch.add(x.var(), **k))",
        "torch.sqrt(x.pow(2).sum(), **k) + 1e-8",
        "torch.pow(x.pow(2).sum(), **k)",
        "torch.hypot(x * x, **k)",
        "torch.where(x > 0, torch.div(*x), x)",
        "torch.where(x > 0, torch.div(x, **k), x)",
        "torch.where(*x).log() * torch.where(x > 0, **k)",
        "torch.max(dim=x, **k)",
        "F.binary_cross_entropy(torch.sigmoid(x), **k)",
    ]
    lines = "".join(f"    a = {expression}\n    b = x / ({expression})\n" for expression in expressions)
    head = "import torch\nimport torch.nn.functional as F\ndef f(x, k):\n"
    text = f"{head}{lines}    with torch.autocast('cuda'):\n        c = {expressions[-1]}\n    return a, b, c\n"
    assert told(text) == told(text, gated=False)
