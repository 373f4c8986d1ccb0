"""The stack machine of the pickle protocol, without its power to import and to call; `pickles` hands it the opcodes.

Nothing that a file holds is made into text, hashed or compared unless it is plain: towers of tuples take years to print.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.reading import ENTRY, OBJECT, POINTER, Reading
from nanlint.checkpoint.rebuild import COPYING
from nanlint.checkpoint.saved import Name, Opaque

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Builder = Callable[..., Any]

_LARGEST_KEY = 1 << 60
"""Python takes the hash of larger integers modulo 2**61 - 1, so that a file could give all of them the same one."""

PUSHED = frozenset({
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT",
    "STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8",
    "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8",
})  # fmt: skip
"""The opcodes that push their argument and do nothing else."""


class Machine:
    """The stack, the marks and the memo of one pickle."""

    def __init__(self, builders: Mapping[str, Builder], persistent: Builder | None, reading: Reading) -> None:
        self.stack: list[Any] = []
        self._below: list[list[Any]] = []
        self._memo: list[Any] = []
        self._scattered: dict[int, Any] = {}
        self._builders = builders
        self._persistent = persistent
        self._reading = reading

    def step(self, name: str, argument: Any) -> None:
        """Do one opcode; one that is not in the table ends the reading."""
        if name in PUSHED:
            self.stack.append(argument)
        else:
            STEPS[name](self, argument)

    def marked(self) -> list[Any]:
        """What was pushed since the last mark."""
        above, self.stack = self.stack, self._below.pop()
        return above

    def mark(self) -> None:
        """Begin a new stretch of the stack."""
        self._below.append(self.stack)
        self.stack = []

    def pop(self) -> None:
        """Drop the top, or the mark that lies there."""
        if self.stack:
            self.stack.pop()
        else:
            self.marked()

    def drop(self) -> None:
        """Forget what was pushed since the last mark."""
        self.marked()

    def memoize(self, index: int | None) -> None:
        """Remember the top of the stack, one place after the other as every pickler does it, or at a place of its own."""
        if index is None or index == len(self._memo):
            self._memo.append(self.stack[-1])
        else:
            self._reading.build(OBJECT)
            self._scattered[index] = self.stack[-1]

    def recall(self, index: int) -> None:
        """Push what was remembered."""
        self.stack.append(self._scattered[index] if index in self._scattered else self._memo[index])

    def push(self, value: Any) -> None:
        """Push a value."""
        self.stack.append(value)

    def tuple_of(self, count: int) -> None:
        """Make a tuple of the topmost values."""
        self.stack[-count:] = [tuple(self.stack[-count:])]

    def extend(self, elements: list[Any]) -> None:
        """Append to the list, the set or the object on the stack."""
        target = self.stack[-1]
        (target.elements if isinstance(target, Opaque) else target).extend(elements)

    def update(self, pairs: list[Any]) -> None:
        """Set the items of the dictionary or the object on the stack."""
        target = self.stack[-1]
        self._reading.build(sum(2 * ENTRY if _key(key) is key else 2 * OBJECT for key in pairs[::2]))
        _fill(target.entries if isinstance(target, Opaque) else target, pairs)

    def name_from_stack(self) -> None:
        """Make a name of module and attribute."""
        attribute, module = self.stack.pop(), self.stack.pop()
        if not isinstance(module, str) or not isinstance(attribute, str):
            raise ValueError("it names something by what is no text")  # noqa: TRY004 - a damaged file, not a mistake of ours
        self.push(Name(self._reading.note(module, attribute)))

    def named(self, pair: str) -> Name:
        """The name of module and attribute, which is noted: it would be imported if the file were loaded for real."""
        module, _, attribute = pair.partition(" ")
        return Name(self._reading.note(module, attribute))

    def call(self, function: Any, arguments: Any) -> None:
        """Push what a call would make: by our own table, or an object that remembers what was asked for."""
        full = function.full if isinstance(function, Name) else "an unnamed object"
        builder = self._builders.get(full)
        given = arguments if isinstance(arguments, tuple) else (arguments,)
        self._reading.build(OBJECT + (sum(map(_size, given)) if full in COPYING else 0))
        self.push(Opaque(full, given) if builder is None else builder(*given))

    def reduce(self) -> None:
        """Take arguments and function from the stack, and push the result."""
        arguments, function = self.stack.pop(), self.stack.pop()
        self.call(function, arguments)

    def reduce_with_keywords(self) -> None:
        """The same for a call with keywords, which no builder wants."""
        keywords, arguments, function = self.stack.pop(), self.stack.pop(), self.stack.pop()
        self._reading.build(OBJECT)
        self.push(Opaque(function.full if isinstance(function, Name) else "an unnamed object", (arguments, keywords)))

    def object_from_mark(self, name: str | None) -> None:
        """The two oldest ways to make an object."""
        given = self.marked()
        function = self.named(name) if name is not None else given.pop(0)
        self.call(function, tuple(given))

    def build(self) -> None:
        """Give the object on the stack its state; a dictionary's, such as the _metadata of a state_dict, is of no interest."""
        state = self.stack.pop()
        target = self.stack[-1]
        if isinstance(target, Opaque):
            self._reading.build(sum(map(_size, state)) if isinstance(state, tuple) else POINTER)
            target.state = _flat(state)
            builder = self._builders.get(f"{target.name}.__setstate__")
            target.meaning = None if builder is None else builder(target.state)

    def load_persistent(self, identity: Any) -> None:
        """Push the storage that lies outside of the pickle."""
        if self._persistent is None:
            raise ValueError("it refers to something outside of itself")
        self.push(self._persistent(identity))


def _size(given: Any) -> int:
    """The memory that a copy of it takes."""
    per_element = ENTRY if isinstance(given, dict) else POINTER if isinstance(given, list | tuple) else 1
    return POINTER + (per_element * len(given) if isinstance(given, dict | list | tuple | str) else 0)


def _flat(state: Any) -> Any:
    """A state of (dict, slots) as one dictionary."""
    if isinstance(state, tuple) and len(state) == 2 and all(isinstance(part, dict | None) for part in state):
        return {**(state[0] or {}), **(state[1] or {})}
    return state


def _fill(target: dict[Any, Any], pairs: list[Any]) -> None:
    for key, value in zip(pairs[::2], pairs[1::2], strict=True):
        target[_key(key)] = value


def _key(key: Any) -> Any:
    """The key, if hashing it is cheap; a tuple of tuples of tuples is how a few bytes keep a machine busy for years."""
    if isinstance(key, str | float | bytes | None | Name | Opaque) or (
        isinstance(key, int) and abs(key) < _LARGEST_KEY
    ):
        return key
    if isinstance(key, tuple) and len(key) < 10 and all(isinstance(part, str) for part in key):
        return key
    return Opaque(type(key).__name__, (key,))


def _dictionary(pairs: list[Any]) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    _fill(made, pairs)
    return made


STEPS: dict[str, Callable[[Machine, Any], None]] = {
    "PROTO": lambda _machine, _: None,
    "FRAME": lambda _machine, _: None,
    "STOP": lambda _machine, _: None,
    "MARK": lambda machine, _: machine.mark(),
    "POP": lambda machine, _: machine.pop(),
    "POP_MARK": lambda machine, _: machine.drop(),
    "DUP": lambda machine, _: machine.push(machine.stack[-1]),
    "NONE": lambda machine, _: machine.push(None),
    "NEWTRUE": lambda machine, _: machine.push(True),  # noqa: FBT003 - the value itself
    "NEWFALSE": lambda machine, _: machine.push(False),  # noqa: FBT003 - the value itself
    "EMPTY_LIST": lambda machine, _: machine.push([]),
    "EMPTY_TUPLE": lambda machine, _: machine.push(()),
    "EMPTY_DICT": lambda machine, _: machine.push({}),
    "EMPTY_SET": lambda machine, _: machine.push([]),
    "LIST": lambda machine, _: machine.push(machine.marked()),
    "TUPLE": lambda machine, _: machine.push(tuple(machine.marked())),
    "FROZENSET": lambda machine, _: machine.push(machine.marked()),
    "DICT": lambda machine, _: machine.push(_dictionary(machine.marked())),
    "TUPLE1": lambda machine, _: machine.tuple_of(1),
    "TUPLE2": lambda machine, _: machine.tuple_of(2),
    "TUPLE3": lambda machine, _: machine.tuple_of(3),
    "APPEND": lambda machine, _: machine.extend([machine.stack.pop()]),
    "APPENDS": lambda machine, _: machine.extend(machine.marked()),
    "ADDITEMS": lambda machine, _: machine.extend(machine.marked()),
    "SETITEM": lambda machine, _: machine.update([machine.stack.pop(-2), machine.stack.pop()]),
    "SETITEMS": lambda machine, _: machine.update(machine.marked()),
    "GET": lambda machine, index: machine.recall(index),
    "BINGET": lambda machine, index: machine.recall(index),
    "LONG_BINGET": lambda machine, index: machine.recall(index),
    "PUT": lambda machine, index: machine.memoize(index),
    "BINPUT": lambda machine, index: machine.memoize(index),
    "LONG_BINPUT": lambda machine, index: machine.memoize(index),
    "MEMOIZE": lambda machine, _: machine.memoize(None),
    "GLOBAL": lambda machine, name: machine.push(machine.named(name)),
    "STACK_GLOBAL": lambda machine, _: machine.name_from_stack(),
    "EXT1": lambda machine, code: machine.push(Name(f"extension {code}")),
    "EXT2": lambda machine, code: machine.push(Name(f"extension {code}")),
    "EXT4": lambda machine, code: machine.push(Name(f"extension {code}")),
    "REDUCE": lambda machine, _: machine.reduce(),
    "NEWOBJ": lambda machine, _: machine.reduce(),
    "NEWOBJ_EX": lambda machine, _: machine.reduce_with_keywords(),
    "INST": lambda machine, name: machine.object_from_mark(name),
    "OBJ": lambda machine, _: machine.object_from_mark(None),
    "BUILD": lambda machine, _: machine.build(),
    "PERSID": lambda machine, identity: machine.load_persistent(identity),
    "BINPERSID": lambda machine, _: machine.load_persistent(machine.stack.pop()),
}
