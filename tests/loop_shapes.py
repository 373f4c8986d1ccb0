"""Writes small programs with loops of every shape, the same ones each time, and runs them plain or traced."""

from __future__ import annotations

import random
import sys
import traceback
from contextlib import contextmanager
from textwrap import indent
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType

MOST_EVENTS = 300
DEEPEST = 4
"""With the loops made repeatable, Python's own bound on nested blocks is near."""


class Oops(Exception):  # noqa: N818 - an event more than an error
    """What the programs raise, catch and end in."""


class Told(NamedTuple):
    """All that can be told of a run from outside."""

    events: tuple[object, ...]
    steps: int
    end: str
    lines: tuple[int, ...]
    """Of the traceback, if it ended in one."""
    names: tuple[str, ...]
    """What the module holds afterwards."""


class Shape:
    """One program; `random` decides what it does, and the seed decides `random`."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - programs, not secrets
        self._number = 0

    def text(self) -> str:
        """The module: functions of several kinds, loops of its own, and a class with a loop in its body."""
        parts = [
            "v = total = 0\n",
            *(self._function(name) for name in ("first", "second")),
            f"class Body:\n{indent(self._loop(2, in_function=False), '    ')}",
            self._loop(2, in_function=False),
            "try:\n    note(first())\nexcept Oops as oops:\n    note(str(oops))\n",
            "note(second())\n",
            "if choose():\n    sys.exit(3)\n",
        ]
        return "".join(parts)

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _function(self, name: str) -> str:
        body = "v = 0\nsnapshot = locals()\n" if self._random.random() < 0.3 else "global total\n"
        body += self._block(1, loop=False, in_function=True) + self._loop(1, in_function=True)
        body += "note(sorted(snapshot))\n" if "snapshot" in body else "note(v)\n"
        return f"def {name}():\n{indent(body, '    ')}    return {self._next()}\n"

    def _block(self, depth: int, *, loop: bool, in_function: bool) -> str:
        return "".join(
            self._statement(depth, loop=loop, in_function=in_function) for _ in range(self._random.randint(1, 3))
        )

    def _statement(self, depth: int, *, loop: bool, in_function: bool) -> str:
        choices: list[Callable[[], str]] = [self._event, self._event, self._comprehension]
        if loop:
            choices += [self._jump, self._jump]
        if in_function:
            choices.append(lambda: f"if choose():\n    return note({self._next()})\n")
        choices.append(lambda: f"if choose():\n    raise Oops({self._next()})\n")
        if depth < DEEPEST:
            inner = {"loop": loop, "in_function": in_function}
            choices += [
                lambda: self._loop(depth + 1, in_function=in_function),
                lambda: self._loop(depth + 1, in_function=in_function),
                lambda: self._try(depth + 1, **inner),
                lambda: f"with guard({self._next()}):\n{indent(self._block(depth + 1, **inner), '    ')}",
                self._closure,
                self._generator,
            ]
        return self._random.choice(choices)()

    def _event(self) -> str:
        kind = self._random.choice(["note({})", "train({})", "total = train({})", "v = note(({}, total))", "train(v)"])
        return kind.format(self._next()) + "\n"

    def _comprehension(self) -> str:
        return f"note([v for v in range({self._next() % 3})])\n"

    def _jump(self) -> str:
        word = self._random.choice(["break", "continue"])
        return f"if choose():\n    {word}\n"

    def _loop(self, depth: int, *, in_function: bool) -> str:
        head = self._random.choice(
            ["for v in range(3):", "for a, b in pairs():", "while choose():", "while note(True):"]
        )
        body = f"train({self._next()})\n" if self._random.random() < 0.8 else ""
        body += self._block(depth, loop=True, in_function=in_function)
        if head == "while note(True):":
            body += "if choose():\n    break\n"
        text = f"{head}\n{indent(body, '    ')}"
        if self._random.random() < 0.4:
            after = self._block(depth, loop=False, in_function=in_function)
            text += f"else:\n{indent(after, '    ')}"
        return text

    def _try(self, depth: int, *, loop: bool, in_function: bool) -> str:
        def block() -> str:
            return indent(self._block(depth, loop=loop, in_function=in_function), "    ")

        text = f"try:\n{block()}"
        if self._random.random() < 0.5:
            text += f"except Oops as oops:\n    note(str(oops))\n{block()}"
            text += f"else:\n{block()}" if self._random.random() < 0.3 else ""
        return text + f"finally:\n{block()}"

    def _closure(self) -> str:
        name = f"inner_{self._next()}"
        loop = indent(self._loop(DEEPEST, in_function=True), "    ")
        return f"def {name}(v=0, total=0):\n{loop}    return lambda: note((v, total))\n({name}() or int)()\n"

    def _generator(self) -> str:
        name = f"made_{self._next()}"
        loop = indent(f"for v in range(3):\n    train(v)\n    yield v\n    {self._event()}", "    ")
        body = "train(each)\nif choose():\n    break\n"
        return f"def {name}(total=0):\n{loop}for each in {name}():\n{indent(body, '    ')}"


class World:
    """What a program calls; the same calls give the same answers."""

    def __init__(self, seed: int, step: Callable[[], object] = int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - as above
        self._step = step
        self.events: list[object] = []
        self.steps = 0

    def note(self, event: object) -> object:
        """Something that can be seen; too many of them end the program."""
        self.events.append(event)
        if len(self.events) > MOST_EVENTS:
            sys.exit("enough")
        return event

    def train(self, event: object) -> int:
        """One step."""
        self.note(("train", event))
        self._step()
        self.steps += 1
        return self.steps

    def choose(self) -> bool:
        """True now and then."""
        answer = self._random.random() < 0.4
        self.note(answer)
        return answer

    def pairs(self) -> Iterator[tuple[int, int]]:
        """An iterator that tells when it is asked and when it is left."""
        try:
            for number in range(3):
                self.note(f"asked {number}")
                yield number, -number
        finally:
            self.events.append("left")

    @contextmanager
    def guard(self, number: int) -> Iterator[None]:
        """Tells when it is left and how; an odd one lets no Oops through."""
        self.note(f"enter {number}")
        try:
            yield
        except Oops:
            if number % 2 == 0:
                raise
            self.note(f"suppressed {number}")
        finally:
            self.events.append(f"exit {number}")

    def names(self) -> dict[str, Any]:
        """The program's builtins, so to say."""
        return {
            "note": self.note, "train": self.train, "choose": self.choose,
            "pairs": self.pairs, "guard": self.guard, "Oops": Oops, "sys": sys, "__name__": "shape",
        }  # fmt: skip


def told(code: CodeType, world: World, extra: dict[str, Any] | None = None) -> Told:
    """Run it, and tell what can be told."""
    names = {**world.names(), **(extra or {})}
    before, end = set(names), "ended"
    lines: list[int] = []
    try:
        exec(code, names)  # noqa: S102 - a program from above
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it ends in is compared
        end = f"{type(error).__name__}: {error}"
        lines = [
            part.lineno or 0 for part in traceback.extract_tb(error.__traceback__) if part.filename == code.co_filename
        ]
    shown = sorted(set(names) - before - {"__builtins__"})
    return Told(tuple(world.events), world.steps, end, tuple(lines), tuple(shown))
