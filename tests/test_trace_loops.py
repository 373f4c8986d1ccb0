"""A traced script runs as it would have run: loops of every shape, written by a generator, leave the same record."""

from __future__ import annotations

import builtins
import random
from textwrap import indent
from typing import TYPE_CHECKING, Any

import pytest

from nanlint.trace.attempts import Loops, Turn
from nanlint.trace.loops import RUNTIME, compiled

if TYPE_CHECKING:
    from types import CodeType, FrameType

SEEDS = range(500)
LIMIT = 400
"""Turns after which a generated program stops by itself."""


class Quiet:
    """A session in which nothing goes wrong."""

    activity = 0

    def take_mark(self) -> None:
        return None

    def is_lost(self, turn: Turn, frame: FrameType) -> bool:
        del turn, frame
        return False

    def is_worth_repeating(self, turn: Turn, error: BaseException) -> bool:
        del turn, error
        return False


class Stopped(Exception):  # noqa: N818 - what a generated program raises at its limit
    pass


class Writer:
    """Writes a program of loops inside loops; every way out of a loop is drawn."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)  # noqa: S311 - shapes, no secrets
        self.names = 0

    def program(self) -> str:
        body = indent(self.block(depth=0, in_loop=False), "    ")
        return f"def main():\n    total = 0\n{body}\n    note('end', total)\n    return total\n\nresult = main()\n"

    def block(self, *, depth: int, in_loop: bool) -> str:
        kinds = ["note", "note", "step", "count", "if"]
        if depth < 3:
            kinds += ["for", "for", "while", "try", "with", "helper", "generator"]
        if in_loop:
            kinds += ["break", "continue", "leave if", "leave if", "return", "raise"]
        return "\n".join(
            self.statement(self.draw.choice(kinds), depth, in_loop=in_loop) for _ in range(self.draw.randint(1, 4))
        )

    def inner(self, depth: int, *, in_loop: bool) -> str:
        return indent(self.block(depth=depth + 1, in_loop=in_loop), "    ")

    def statement(self, kind: str, depth: int, *, in_loop: bool) -> str:  # noqa: PLR0911 - one way out for each kind
        self.names += 1
        name = f"v{self.names}"
        condition = f"total % {self.draw.randint(2, 5)} == {self.draw.randint(0, 2)}"
        simple = {
            "note": f"note({self.names}, total)",
            "step": f"train_step({self.names})",
            "count": f"total += {self.draw.randint(1, 3)}",
            "break": f"if {condition}: break",
            "continue": f"if {condition}: continue",
            "leave if": f"if {condition}:\n    note({self.names})\n    {self.draw.choice(['break', 'continue'])}",
            "return": f"if total > {self.draw.randint(20, 60)}: return total",
            "raise": f"if total > {self.draw.randint(20, 60)}: raise ValueError({self.names})",
        }
        if kind in simple:
            return simple[kind]
        body = self.inner(depth, in_loop=in_loop)
        if kind == "if":
            return (
                f"if {condition}:\n{body}\nelse:\n{self.inner(depth, in_loop=in_loop)}"
                if depth < 3
                else f"total += len('{name}')"
            )
        if kind == "try":
            last = self.draw.choice(
                [f"except ValueError as {name}:\n    note('caught')", f"finally:\n    note({self.names})"]
            )
            return f"try:\n{body}\n{last}"
        if kind == "with":
            return f"with quietly({self.names}):\n{body}"
        if kind == "helper":
            inside = self.inner(depth, in_loop=False).replace("total +=", "total = total +")
            return f"def {name}(total):\n{inside}\n    return total\ntotal = {name}(total) or total"
        if kind == "generator":
            return (
                f"def {name}():\n    for i in range(3):\n        train_step(i)\n        yield i\ntotal += sum({name}())"
            )
        body = self.inner(depth, in_loop=True)
        otherwise = f"\nelse:\n{self.inner(depth, in_loop=in_loop)}" if self.draw.random() < 0.4 else ""
        if kind == "for":
            return f"for {name} in range({self.draw.randint(0, 4)}):\n    train_step({name})\n    total += 1\n{body}{otherwise}"
        return f"{name} = 0\nwhile {name} < {self.draw.randint(0, 4)}:\n    {name} += 1\n    train_step({name})\n{body}{otherwise}"


def record(code: CodeType) -> list[Any]:
    """What a program does, in order, and how it ends."""
    events: list[Any] = []

    def note(*values: Any) -> None:
        events.append(values)
        if len(events) > LIMIT:
            raise Stopped

    class quietly:  # noqa: N801 - reads like a function in the program
        def __init__(self, number: int) -> None:
            self.number = number

        def __enter__(self) -> None:
            note("enter", self.number)

        def __exit__(self, *error: object) -> None:
            note("exit", self.number, getattr(error[0], "__name__", None))

    names: dict[str, Any] = {"note": note, "train_step": lambda number: note("step", number), "quietly": quietly}
    try:
        exec(code, names)  # noqa: S102 - the program was written above
        events.append(("result", names["result"]))
    except (ValueError, Stopped) as error:
        events.append((type(error).__name__, str(error)))
    return events


@pytest.fixture(autouse=True)
def loops(monkeypatch: pytest.MonkeyPatch) -> Loops:
    """The object that a repeatable loop talks to."""
    made = Loops(Quiet())
    monkeypatch.setattr(builtins, RUNTIME, made, raising=False)
    return made


def test_every_loop_runs_as_it_would_have_run(loops: Loops) -> None:
    programs = {seed: Writer(seed).program() for seed in SEEDS}
    plain = {seed: record(compile(text, "plain.py", "exec")) for seed, text in programs.items()}
    traced = {seed: record(compiled(text.encode(), "traced.py")) for seed, text in programs.items()}
    different = [f"seed {seed}:\n{programs[seed]}" for seed in SEEDS if plain[seed] != traced[seed]]
    assert different == []
    assert loops.turns == []


def test_the_generated_programs_leave_their_loops_in_every_way() -> None:
    text = "\n".join(Writer(seed).program() for seed in SEEDS)
    ways = ("break", "continue", "return total", "raise ValueError", "else:", "finally:", "yield", "while", "with")
    assert [way for way in ways if text.count(way) < 50] == []


def test_two_loops_with_breaks_inside_each_other_keep_their_epochs() -> None:
    text = (
        "epochs = 0\n"
        "def main():\n"
        "    global epochs\n"
        "    for epoch in range(5):\n"
        "        for batch in range(4):\n"
        "            train_step(batch)\n"
        "            if batch == 2:\n"
        "                break\n"
        "        epochs += 1\n"
        "        if epochs > 99:\n"
        "            break\n"
        "    return epochs\n"
        "result = main()\n"
    )
    assert record(compiled(text.encode(), "traced.py"))[-1] == ("result", 5)
