"""A traced script runs as it would have run: loops of every shape, written by a generator, leave the same record."""

from __future__ import annotations

import builtins
import functools
import random
import signal
import subprocess
from textwrap import indent
from typing import TYPE_CHECKING, Any

import pytest

from nanlint.trace.attempts import Loops, Turn
from nanlint.trace.loops import RUNTIME, compiled

if TYPE_CHECKING:
    from pathlib import Path
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
        start = "    total, nonlocal_total, numbers = 0, [0], iter([1, 2, 3])"
        return f"def main():\n{start}\n{body}\n    note('end', total)\n    return total\n\nresult = main()\n"

    def block(self, *, depth: int, in_loop: bool) -> str:
        kinds = ["note", "note", "step", "count", "if"]
        if depth < 3:
            kinds += ["for", "for", "while", "walrus", "try", "with", "helper", "generator", "closure", "nonlocal"]
        kinds += ["next", "comprehension", "maybe bound"]
        if in_loop:
            kinds += ["break", "continue", "leave if", "leave if", "return", "raise"]
        return "\n".join(
            self.statement(self.draw.choice(kinds), depth, in_loop=in_loop) for _ in range(self.draw.randint(1, 4))
        )

    def inner(self, depth: int, *, in_loop: bool) -> str:
        return indent(self.block(depth=depth + 1, in_loop=in_loop), "    ")

    def statement(self, kind: str, depth: int, *, in_loop: bool) -> str:  # noqa: C901, PLR0911 - one way out for each kind
        self.names += 1
        name = f"v{self.names}"
        condition = f"total % {self.draw.randint(2, 5)} == {self.draw.randint(0, 2)}"
        simple = {
            "note": f"note({self.names}, total)",
            "step": f"train_step({self.names})",
            "count": f"total += {self.draw.randint(1, 3)}",
            "next": f"total += next(numbers, 1) + next(iter([{self.names}]))",
            "comprehension": f"{name} = [total + each for each in range(2)]\ntotal += sum({name}) % 3",
            "maybe bound": f"if {condition}: late = total\ntry: note(late)\nexcept NameError: note('unbound')",
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
        if kind == "closure":
            return f"{name} = total\ndef f{name}(): return {name} + 1\nnote(f{name}(), (lambda: {name})())\n{name} = 0"
        if kind == "nonlocal":
            return f"def {name}():\n    nonlocal_total[0] += 1\n    return nonlocal_total[0]\nnote({name}() - {name}())"
        if kind == "generator":
            return (
                f"def {name}():\n    for i in range(3):\n        train_step(i)\n        yield i\ntotal += sum({name}())"
            )
        body = self.inner(depth, in_loop=True)
        otherwise = f"\nelse:\n{self.inner(depth, in_loop=in_loop)}" if self.draw.random() < 0.4 else ""
        if kind == "walrus":
            return f"{name} = 0\nwhile ({name} := {name} + 1) < 4:\n    train_step({name})\n{body}{otherwise}"
        if kind == "for":
            return f"for {name} in range({self.draw.randint(0, 4)}):\n    train_step({name})\n    total += 1\n{body}{otherwise}"
        return f"{name} = 0\nwhile {name} < {self.draw.randint(0, 4)}:\n    {name} += 1\n    train_step({name})\n{body}{otherwise}"


@functools.cache
def program(seed: int) -> str:
    """The program of a seed."""
    return Writer(seed).program()


@functools.cache
def repeatable(text: str) -> CodeType:
    """A program as it is run when it is traced; making it takes far longer than running it."""
    return compiled(text.encode(), "traced.py")


def record(code: CodeType, events: list[Any] | None = None) -> list[Any]:
    """What a program does, in order, and how it ends."""
    events = [] if events is None else events

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


@pytest.mark.slow
def test_every_loop_runs_as_it_would_have_run(loops: Loops) -> None:
    programs = {seed: program(seed) for seed in SEEDS}
    plain = {seed: record(compile(text, "plain.py", "exec")) for seed, text in programs.items()}
    traced = {seed: record(repeatable(text)) for seed, text in programs.items()}
    different = [f"seed {seed}:\n{programs[seed]}" for seed in SEEDS if plain[seed] != traced[seed]]
    assert different == []
    assert loops.turns == []


def test_the_generated_programs_leave_their_loops_in_every_way() -> None:
    text = "\n".join(program(seed) for seed in SEEDS)
    ways = ("break", "continue", "return total", "raise ValueError", "else:", "finally:", "yield", "while", "with")
    more = (":=", "next(", "lambda", "NameError")
    assert [way for way in (*ways, *more) if text.count(way) < 50] == []


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


class Repeating(Quiet):
    """A session that runs every turn of an outermost loop again, and compares what the two runs of it do."""

    def __init__(self, events: list[Any]) -> None:
        self.events, self.loops = events, Loops(self)
        self.start = 0
        self.first: list[Any] | None = None
        self.compared: list[tuple[list[Any], list[Any]]] = []

    def take_mark(self) -> None:
        if not self.loops.turns:
            self.start, self.first = len(self.events), None

    def is_lost(self, turn: Turn, frame: FrameType) -> bool:
        del frame
        if turn is not self.loops.turns[0]:
            return False
        done = self.events[self.start :]
        self.start = len(self.events)
        if self.first is None:
            self.first = done
            return True
        self.compared.append((self.first, done))
        return False


@pytest.mark.slow
def test_a_turn_that_is_run_again_does_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    for seed in SEEDS:
        text = program(seed).replace("nonlocal_total[0] += 1", "nonlocal_total[0] += 0")
        events: list[Any] = []
        session = Repeating(events)
        monkeypatch.setattr(builtins, RUNTIME, session.loops, raising=False)
        record(repeatable(text), events)
        compared += [(first, second, text) for first, second in session.compared if len(events) < LIMIT]
    assert len(compared) > 500
    assert [text for first, second, text in compared if first != second] == []


LEAVING = """
import os, signal, sys, torch
torch.manual_seed(0)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def batches():
    for number in range(4):
        yield number, torch.randn(3, 2)

def on_signal(number, frame):
    print("signal", number, flush=True)

signal.signal(signal.SIGUSR1, on_signal)
for number, batch in batches():
    loss = model(batch).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(number, loss.item(), flush=True)
    if number == 2:
        WAY
else:
    print("all")
print("end")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "way",
    [
        "pass",
        "break",
        "os._exit(5)",
        "sys.exit(3)",
        "raise KeyError('mine')",
        "os.kill(os.getpid(), signal.SIGUSR1)",
        "os.kill(os.getpid(), signal.SIGTERM)",
        "os.kill(os.getpid(), signal.SIGINT)",
        "sys.setrecursionlimit(10**4)",
    ],
)
def test_a_script_ends_as_it_would_have_ended(way: str, torch_python: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(LEAVING.replace("WAY", way), encoding="utf-8")
    commands = ([torch_python, str(script)], [torch_python, "-m", "nanlint", "trace", str(script)])
    plain, traced = (subprocess.run(each, capture_output=True, text=True, check=False) for each in commands)
    # Ctrl-C ends Python itself by the signal; a program that was asked to run another says so by its exit code.
    code = 130 if plain.returncode == -signal.SIGINT else plain.returncode
    assert (traced.returncode, traced.stdout) == (code, plain.stdout)
    assert traced.stderr.splitlines()[-1:] == plain.stderr.splitlines()[-1:]
