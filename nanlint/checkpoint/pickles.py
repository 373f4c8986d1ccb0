"""A pickle as data: the stack machine of the pickle protocol, without its power to import and to call.

A name stays a `Name`, a call of a name that is not in the caller's table becomes an `Opaque` with its arguments. The
standard library's `pickletools` cuts the opcodes; what they do is in `pickle_machine`. Sizes are those of the file, never
those that the file claims, and all that is built is added up in a `Reading`, so that a hostile pickle can waste little.
"""

from __future__ import annotations

import pickletools
import sys
from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.pickle_machine import Machine
from nanlint.checkpoint.reading import OBJECT, POINTER, Reading, UnreadableCheckpoint, damaged
from nanlint.checkpoint.region import PickleFile, Region, ShortReads, pickle_file

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Mapping

    from nanlint.checkpoint.pickle_machine import Builder

_SHORT = 60
"""Bits of an integer whose memory is counted with its opcode."""

_BYTES = frozenset({"BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"})
"""The opcodes whose argument may be long: it stays where it is, in the file."""

_COSTS = {
    **dict.fromkeys(("MARK", "EMPTY_LIST", "EMPTY_DICT", "EMPTY_SET", "TUPLE1", "TUPLE2", "TUPLE3"), 8 * POINTER),
    **dict.fromkeys(("BININT", "BININT2", "INT"), 6 * POINTER),
    **dict.fromkeys(("GLOBAL", "STACK_GLOBAL", "INST"), OBJECT),
}
"""Memory that an opcode fills beside an argument that is no integer; two pointers for all others."""

_OPCODES: dict[bytes, tuple[str, Callable[[Any], Any] | None, bool, int]] = {
    opcode.code.encode("latin1"): (
        opcode.name,
        None if opcode.arg is None else opcode.arg.reader,
        opcode.name in _BYTES,
        _COSTS.get(opcode.name, 2 * POINTER),
    )
    for opcode in pickletools.opcodes
}
"""Name, reader of the argument, whether that stays in the file, and cost."""


def read_pickle(
    region: Region, start: int, builders: Mapping[str, Builder], persistent: Builder | None = None
) -> tuple[Any, int]:
    """The object that begins at `start`, and where the next one does.

    `builders` makes values of the few names it knows; `persistent` of the storages that a pickle refers to.
    """
    file = pickle_file(region, start)
    machine = Machine(builders, persistent, region.reading)
    with region.reading.inside():
        try:
            _run(machine, file, region.reading)
        except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise damaged(f"its pickle breaks off at byte {file.tell():,} ({_reason(error)})") from None
    return machine.stack[-1] if machine.stack else None, file.tell()


def note_imports(region: Region, start: int = 0) -> int:
    """Note what a pickle that nobody needs would import; where it ends, or the end of the region if it is damaged."""
    try:
        return read_pickle(region, start, {}, lambda _: None)[1]
    except UnreadableCheckpoint:
        return len(region)


def _run(machine: Machine, file: PickleFile | io.BytesIO, reading: Reading) -> None:
    short = ShortReads(file)
    while True:
        code = bytes(file.read(1))
        if code not in _OPCODES:
            raise ValueError(f"{code!r} is no operation" if code else "its end is missing")
        name, read, is_long, cost = _OPCODES[code]
        argument = None if read is None else read(file if is_long else short)
        if argument is not None and (argument.__class__ is not int or argument.bit_length() > _SHORT):
            cost += sys.getsizeof(argument)
        reading.operate(cost)
        machine.step(name, argument)
        if name == "STOP":
            return


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:120]
