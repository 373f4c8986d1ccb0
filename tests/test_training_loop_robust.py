"""Training loops of odd form are survived: whatever Python allows, however large, however wrong."""

from __future__ import annotations

import pytest

from nanlint.api import check_source
from nanlint.settings import Settings
from tests.loops_told import PREAMBLE, loops_in, ways_of

LOOP_RULES = Settings(select=("NAN4", "NAN5"), preview=True, severity="info")
CLIPS = Settings(select=("NAN402",))

ODD = {
    "async": """
async def train(m, optimizer, loader):
    async for b in loader:
        m(b).backward()
        optimizer.step()
""",
    "while True": """
def f(m, optimizer):
    while True:
        m().backward()
        optimizer.step()
        if m: break
""",
    "match": """
def f(m, optimizer, x):
    for b in x:
        match b:
            case 1: m(b).backward()
            case _: pass
        optimizer.step()
""",
    "one line": """
def f(m, optimizer, x):
    for b in x: m(b).backward(); optimizer.step()
""",
    "try and finally": """
def f(m, optimizer, x):
    for b in x:
        try: m(b).backward()
        finally: optimizer.step()
""",
    "for and else": """
def f(m, optimizer, x):
    for b in x:
        m(b).backward()
        optimizer.step()
    else:
        print(1)
""",
    "lambda": """
def f(m, optimizer, x):
    for b in x:
        (lambda: m(b).backward())()
        optimizer.step()
""",
    "stars": """
def f(m, optimizer, x, *a, **k):
    for b in x:
        m(*a).backward(*a, **k)
        optimizer.step(*a)
        g(*a, **k)
""",
    "nested class": """
def f(m, optimizer, x):
    class T:
        def s(self, b):
            m(b).backward()
            optimizer.step()
    for b in x: T().s(b)
""",
    "walrus": """
def f(m, optimizer, x):
    while (b := next(x)):
        (l := m(b)).backward()
        optimizer.step()
""",
    "its own name": """
def f(f, optimizer):
    for _ in f:
        f(f).backward()
        optimizer.step()
        f(f, optimizer)
""",
    "subscripts": """
def f(m, o, x):
    for b in x:
        m[0](b).backward()
        o['optimizer'].step()
        o['s'][1:2].step()
""",
}

SCALED = """
def f(model, optimizer, scaler, loader):
    for batch in loader:
        scaler.scale(model(batch)).backward()
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
"""


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_no_form_of_a_loop_is_too_much(text: str) -> None:
    # What a rule raises would be raised again.
    found = check_source(PREAMBLE + text, settings=LOOP_RULES)
    assert {finding.code[:4] for finding in found} <= {"NAN4", "NAN5"}


@pytest.mark.slow
def test_a_loop_of_thousands_of_lines_is_read() -> None:
    lines = "".join(f"        x{index} = x{index - 1} + 1\n" for index in range(1, 3000))
    head = "def f(m, optimizer, x0):\n    for b in x0:\n"
    (loop,) = loops_in(f"{head}{lines}        m(b).backward()\n        optimizer.step()\n")
    assert ways_of(loop) == ["backward step"]


def test_a_chain_of_many_helpers_is_followed_to_some_depth_and_no_further() -> None:
    helpers = "".join(f"def h{index}(o):\n    o.zero_grad()\n    h{index + 1}(o)\n" for index in range(30))
    (loop,) = loops_in(
        f"""{helpers}
def h30(o):
    pass
def f(m, optimizer, x):
    for b in x:
        m(b).backward()
        h0(optimizer)
        optimizer.step()
"""
    )
    (way,) = ways_of(loop)
    assert way.startswith("backward zero_grad zero_grad")
    assert way.endswith("step")


def test_a_place_that_two_loops_lead_to_is_told_once() -> None:
    text = """
def first(model, optimizer, scaler, loader):
    for batch in loader:
        step(model, optimizer, scaler, batch)
def second(model, optimizer, scaler, loader):
    for batch in loader:
        step(model, optimizer, scaler, batch)
def step(model, optimizer, scaler, batch):
    scaler.scale(model(batch)).backward()
    clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
"""
    found = check_source(PREAMBLE + text, settings=CLIPS)
    assert [(finding.code, finding.function) for finding in found] == [("NAN402", "step")]


@pytest.mark.parametrize(
    ("old", "new", "ending"),
    [
        pytest.param("\n", "\r\n", "\r\n        ", id="Windows line ends"),
        pytest.param("    ", "\t", "\n\t\t", id="tabs"),
    ],
)
def test_a_fix_that_adds_a_line_keeps_how_lines_are_written(old: str, new: str, ending: str) -> None:
    (finding,) = check_source((PREAMBLE + SCALED).replace(old, new), settings=CLIPS)
    assert finding.fix is not None
    assert finding.fix.edits[0].text == f"scaler.unscale_(optimizer){ending}"


def test_no_line_is_added_where_statements_share_one() -> None:
    text = SCALED.replace(".backward()\n        clip", ".backward(); clip")
    (finding,) = check_source(PREAMBLE + text, settings=CLIPS)
    assert finding.fix is None


def test_a_suppression_quiets_a_loop_rule() -> None:
    text = SCALED.replace("1.0)", "1.0)  # nanlint: ignore[NAN402] on purpose")
    assert check_source(PREAMBLE + text, settings=CLIPS) == []
