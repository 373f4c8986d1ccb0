"""seccomp: a filter on system calls, a small program that the kernel runs before each of them.

It stops what native code asks of the kernel past Python: sockets, processes and programs, changes of modes and owners,
other processes, mounts, and the parts of the kernel that are attacked most. Threads, files and memory are left alone.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from typing import TYPE_CHECKING, NamedTuple

from nanlint.confirm.worker.walls import kernel
from nanlint.confirm.worker.walls.system_calls import ASKED, NEWEST, PRETENDED, REFUSED, Numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

# The machine's place in the table of numbers, and its name in what the kernel hands to the filter.
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_X32 = 0x40000000
"""Where a second set of numbers for the same calls begins on x86_64."""

# Instructions: load a word, jump if equal, jump if at least, jump if a bit is set, return.
_LOAD, _EQUAL, _AT_LEAST, _HAS_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _MACHINE_AT = 0, 4
_ALLOW, _ERROR, _END = 0x7FFF0000, 0x00050000, 0x80000000
_SECCOMP, _SET_FILTER, _ALL_THREADS = (317, 277), 1, 1

_THREAD, _UNIX_SOCKET, _STREAM, _DATAGRAM = 0x00010000, 1, 1, 2
_FOR_A_DRIVER = ("bind", "listen", "memfd_create")
"""What the driver of a GPU does when it starts, and fails without: it waits at a Unix socket, and makes a file in memory."""
# To type on a terminal (two ways), to change the attributes of a file (two ways), to have signals sent to others (two ways).
_REFUSED_CONTROLS = (0x5412, 0x541C, 0x40086602, 0x401C5820, 0x8901, 0x8902)
# To have signals sent to others (three ways), to keep others from a file, to watch a folder, to make a pipe larger.
_REFUSED_OF_FILES = (8, 10, 15, 1024, 1026, 1031)
# To make room for more messages that nobody has read (two ways): memory that no limit counts.
_REFUSED_OF_SOCKETS = (7, 32)


class _Step(NamedTuple):
    """One instruction; jumps count the steps to leave out."""

    code: int
    value: int
    if_true: int = 0
    if_false: int = 0

    def packed(self) -> bytes:
        """As the kernel reads it."""
        return struct.pack("=HBBI", self.code, self.if_true, self.if_false, self.value)


_DONE = _Step(_RETURN, _ALLOW)


def restrict(*, driver_starts: bool = False) -> bool:
    """Put the filter up for all threads of this process and all that it starts; False if the kernel or the machine has none.

    Filters add up: one that lets a driver start is followed by one that does not.
    """
    machine = platform.machine()
    if not kernel.IS_LINUX or machine not in _MACHINES:
        return False
    steps = b"".join(step.packed() for step in program(machine, own=os.getpid(), driver_starts=driver_starts))
    buffer = ctypes.create_string_buffer(steps, len(steps))
    told = struct.pack("@HP", len(steps) // 8, ctypes.addressof(buffer))
    try:
        kernel.no_new_privileges()
        # Not zero: the number of a thread that has another filter.
        return kernel.checked("syscall", _SECCOMP[_MACHINES[machine][0]], _SET_FILTER, _ALL_THREADS, told) == 0
    except OSError:
        return False


def program(machine: str, *, own: int, driver_starts: bool = False) -> list[_Step]:
    """The filter for one machine and for the process with the number `own`."""
    place, name = _MACHINES[machine]
    bodies = _bodies(own, driver_starts=driver_starts)
    refused = {call: numbers for call, numbers in REFUSED.items() if not (driver_starts and call in _FOR_A_DRIVER)}
    return [
        # A call in the manner of another machine (32 bit) would have other numbers.
        _Step(_LOAD, _MACHINE_AT),
        _Step(_EQUAL, name, if_true=1),
        _Step(_RETURN, _END),
        _Step(_LOAD, _NUMBER_AT),
        *_answer_if(_Step(_AT_LEAST, _X32), errno.ENOSYS),
        *_answer_if(_Step(_AT_LEAST, NEWEST + 1), errno.ENOSYS),
        *(step for _, number in _numbers(PRETENDED, place) for step in _answer_if(_Step(_EQUAL, number), 0)),
        *(step for _, number in _numbers(refused, place) for step in _answer_if(_Step(_EQUAL, number), errno.EPERM)),
        *(step for call, number in _numbers(ASKED, place) for step in _judged(number, bodies[call])),
        _DONE,
    ]


def _numbers(table: Numbers, place: int) -> Iterator[tuple[str, int]]:
    """The calls that the machine has."""
    return ((call, number) for call, numbers in table.items() if (number := numbers[place]) is not None)


def _answer_if(test: _Step, number: int) -> list[_Step]:
    """Answer with an error (0: as if it were done) if the test holds."""
    return [_Step(test.code, test.value, if_false=1), _Step(_RETURN, _ERROR | number)]


def _judged(number: int, body: list[_Step]) -> list[_Step]:
    return [_Step(_EQUAL, number, if_false=len(body)), *body]


def _bodies(own: int, *, driver_starts: bool) -> dict[str, list[_Step]]:
    """The steps for each call that is allowed with some arguments only; each ends with a decision."""
    signals = _allow_if(_Step(_EQUAL, own))
    waiting = [
        _Step(_LOAD, _argument(0)),
        *_refuse_unless(_UNIX_SOCKET),
        _Step(_LOAD, _argument(1)),
        *_answer_if(_Step(_HAS_BIT, _DATAGRAM), errno.EPERM),
        _Step(_HAS_BIT, _STREAM, if_true=1),
        _Step(_RETURN, _ERROR | errno.EPERM),
        _DONE,
    ]
    return {
        "clone": _allow_if(_Step(_HAS_BIT, _THREAD)),
        # Its arguments are out of sight; libc then takes `clone`.
        "clone3": [_Step(_RETURN, _ERROR | errno.ENOSYS)],
        **dict.fromkeys(("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"), signals),
        "prlimit64": [_Step(_LOAD, _argument(0)), _Step(_EQUAL, 0, if_true=2), *_refuse_unless(own), _DONE],
        "ioctl": _refuse_if(1, _REFUSED_CONTROLS),
        "fcntl": _refuse_if(1, _REFUSED_OF_FILES),
        "setsockopt": _refuse_if(2, _REFUSED_OF_SOCKETS),
        "socketpair": _allow_if(_Step(_EQUAL, _UNIX_SOCKET)),
        "socket": waiting if driver_starts else [_Step(_RETURN, _ERROR | errno.EPERM)],
        # With an address, a socket of a pair reaches others. An address is two words.
        "sendto": [
            _Step(_LOAD, _argument(4)),
            *_refuse_unless(0),
            _Step(_LOAD, _argument(4) + 4),
            *_refuse_unless(0),
            _DONE,
        ],
    }


def _argument(place: int) -> int:
    """Where the lower half of an argument is."""
    return 16 + 8 * place


def _allow_if(test: _Step) -> list[_Step]:
    """Allow the call if its first argument passes the test."""
    return [
        _Step(_LOAD, _argument(0)),
        _Step(test.code, test.value, if_true=1),
        _Step(_RETURN, _ERROR | errno.EPERM),
        _DONE,
    ]


def _refuse_if(place: int, values: tuple[int, ...]) -> list[_Step]:
    """Refuse the call if the argument at a place is one of these."""
    refused = [step for value in values for step in _answer_if(_Step(_EQUAL, value), errno.EPERM)]
    return [_Step(_LOAD, _argument(place)), *refused, _DONE]


def _refuse_unless(value: int) -> list[_Step]:
    return [_Step(_EQUAL, value, if_true=1), _Step(_RETURN, _ERROR | errno.EPERM)]
