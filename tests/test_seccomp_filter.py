"""The filter on system calls, run step by step as the kernel would, for both machines."""

from __future__ import annotations

import errno
import struct
from typing import TYPE_CHECKING

import pytest

from nanlint.confirm.worker.walls.seccomp import program
from nanlint.confirm.worker.walls.system_calls import ASKED, PRETENDED, REFUSED

if TYPE_CHECKING:
    from collections.abc import Sequence

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
READ, OPEN_AT, MAP = {"x86_64": 0, "aarch64": 63}, {"x86_64": 257, "aarch64": 56}, {"x86_64": 9, "aarch64": 222}
ALLOWED, OWN = "allowed", 42


def decision(
    machine: str, number: int, arguments: Sequence[int] = (), *, driver_starts: bool = False, name: int = 0
) -> object:
    """What the filter says of a call: allowed, ended, or the number of the error."""
    words = struct.pack("=IIQ6Q", number, name or MACHINES[machine][1], 0, *arguments, *[0] * (6 - len(arguments)))
    steps, place, value = program(machine, own=OWN, driver_starts=driver_starts), 0, 0
    while True:
        step = steps[place]
        place += 1
        if step.code == 0x06:
            return {0x7FFF: ALLOWED, 0x8000: "ended"}.get(step.value >> 16, step.value & 0xFFFF)
        if step.code == 0x20:
            (value,) = struct.unpack_from("=I", words, step.value)
        else:
            holds = {0x15: value == step.value, 0x35: value >= step.value, 0x45: bool(value & step.value)}[step.code]
            place += step.if_true if holds else step.if_false


@pytest.mark.parametrize("machine", MACHINES)
def test_what_torch_needs_is_allowed(machine: str) -> None:
    asked = {call: numbers[MACHINES[machine][0]] or 0 for call, numbers in ASKED.items()}
    calls = [
        (READ[machine], ()),
        (OPEN_AT[machine], ()),
        (MAP[machine], ()),
        (asked["clone"], (0x3D0F00,)),
        (asked["tgkill"], (OWN, OWN, 6)),
        (asked["socketpair"], (1, 1)),
        (asked["sendto"], (3, 0x7F00, 8, 0, 0)),
        (asked["prlimit64"], (0, 7)),
        (asked["prlimit64"], (OWN, 7)),
        (asked["ioctl"], (1, 0x5401)),
        (asked["fcntl"], (1, 2, 1)),
    ]
    assert [decision(machine, *call) for call in calls] == [ALLOWED] * len(calls)


@pytest.mark.parametrize("machine", MACHINES)
def test_what_does_harm_is_refused(machine: str) -> None:
    asked = {call: numbers[MACHINES[machine][0]] or 0 for call, numbers in ASKED.items()}
    calls = [
        (asked["clone"], (17,)),
        (asked["kill"], (1, 9)),
        (asked["kill"], (0xFFFFFFFF, 9)),
        (asked["socket"], (1, 2)),
        (asked["socketpair"], (2, 1)),
        (asked["sendto"], (3, 0x7F00, 8, 0, 0x1_0000_0000)),
        (asked["sendto"], (3, 0x7F00, 8, 0, 0x1000)),
        (asked["prlimit64"], (7, 7)),
        (asked["ioctl"], (1, 0x5412)),
        (asked["ioctl"], (1, 0x8901)),
        (asked["fcntl"], (1, 8)),
        (asked["fcntl"], (1, 1024)),
        (asked["setsockopt"], (1, 1, 7)),
    ]
    assert [decision(machine, *call) for call in calls] == [errno.EPERM] * len(calls)
    assert decision(machine, asked["clone3"]) == errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_of_the_tables_is_answered(machine: str) -> None:
    place = MACHINES[machine][0]
    refused = [numbers[place] for numbers in REFUSED.values() if numbers[place] is not None]
    pretended = [numbers[place] for numbers in PRETENDED.values() if numbers[place] is not None]
    assert {decision(machine, number or 0) for number in refused} == {errno.EPERM}
    assert {decision(machine, number or 0) for number in pretended} == {0}


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_another_kind_are_no_way_around(machine: str) -> None:
    assert decision(machine, READ[machine], name=0x40000003) == "ended"
    assert decision(machine, 0x40000000 + 41) == errno.ENOSYS
    assert decision(machine, 4000) == errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_only_while_it_starts_may_the_driver_of_a_gpu_wait_at_a_socket_and_make_a_file_in_memory(machine: str) -> None:
    place = MACHINES[machine][0]
    calls = {**REFUSED, **ASKED}
    may = {
        (call, arguments)
        for call, arguments in [
            *(("socket", pair) for pair in ((1, 1), (1, 0x80005), (1, 2), (1, 3), (2, 1), (16, 1))),
            *((call, ()) for call in ("bind", "listen", "memfd_create", "accept", "accept4", "connect", "sendmsg")),
        ]
        if decision(machine, calls[call][place] or 0, arguments, driver_starts=True) == ALLOWED
    }
    starting = {"bind", "listen", "memfd_create"}
    assert may == {("socket", (1, 1)), ("socket", (1, 0x80005)), *((call, ()) for call in starting)}
    assert {decision(machine, calls[call][place] or 0, (1, 1)) for call in {*starting, "socket"}} == {errno.EPERM}
