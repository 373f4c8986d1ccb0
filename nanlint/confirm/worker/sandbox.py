"""The walls around the user's code, put up in their order, each where the system offers it.

The kernel's walls (namespaces, seccomp, Landlock) hold against native code and against code that means harm, as root and
as an ordinary user; limits bound what a process uses; the audit hook names what was tried. Everything here holds for the
rest of the process: call it in a child. docs/security.md says what gets out where a wall is missing.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nanlint.confirm.worker.walls import kernel, landlock, limits, namespaces, seccomp
from nanlint.confirm.worker.walls.audit_hook import watch
from nanlint.confirm.worker.walls.hidden_files import gpu_devices

if TYPE_CHECKING:
    from collections.abc import Collection

Json = dict[str, Any]

NAMESPACES, SECCOMP, LANDLOCK, LIMITS, AUDIT_HOOK = "namespaces", "seccomp", "Landlock", "limits", "audit hook"
LAYERS = (NAMESPACES, SECCOMP, LANDLOCK, LIMITS, AUDIT_HOOK)
MEMORY = 4 << 30
"""What a child may allocate beyond torch itself; jobs can say otherwise."""


@dataclass(frozen=True, slots=True)
class Walls:
    """What stands around this process."""

    names: tuple[str, ...]
    """The walls in words, strongest first; namespaces one by one."""
    blocked: list[str]
    """What the audit hook refused."""
    no_device: str
    """Why the job's device cannot be used; empty if it can."""


def close_the_doors(job: Json, scratch: str, *, has_processes: bool = False, can_unshare: bool = True) -> Walls:
    """Work in `scratch` from now on, with no network, no programs and no writes elsewhere, within the job's limits.

    A GPU is opened behind the first walls, by our code and before any of the user's, and then the last ones are put up:
    what its driver needs to start (a socket, a file in memory, any amount of addresses) is not to be had afterwards.
    """
    without: Collection[str] = job.get("without", ())
    devices = gpu_devices() if job["device"] != "cpu" else ()
    names: list[str] = []
    limits.end_first()
    if can_unshare and kernel.IS_LINUX and NAMESPACES not in without:
        names += namespaces.enter(scratch, devices=devices, has_processes=has_processes)
    if kernel.IS_LINUX:
        with contextlib.suppress(OSError):
            kernel.give_up_capabilities()
    filtered = SECCOMP not in without and seccomp.restrict(driver_starts=True)
    confined = LANDLOCK not in without and landlock.confine(scratch, devices=devices)
    # Not before: the keys to hide are in the user's home.
    _settle_in(scratch)
    no_device = _opened(job["device"])
    if filtered and seccomp.restrict():
        names.append(SECCOMP)
    names += [LANDLOCK] if confined else []
    if LIMITS not in without and limits.limit(seconds=job["timeout"], memory=job.get("memory", MEMORY)):
        names.append(LIMITS)
    if AUDIT_HOOK in without:
        return Walls(tuple(names), [], no_device)
    blocked = watch(scratch)
    return Walls((*names, AUDIT_HOOK), blocked, no_device)


def _opened(device: str) -> str:
    """Why the device cannot be used behind the walls; empty if it is open."""
    from nanlint.confirm.worker import placement  # noqa: PLC0415 - needs torch, which a system without fork imports late

    return placement.opened(device)


def _settle_in(scratch: str) -> None:
    os.chdir(scratch)
    sys.dont_write_bytecode = True
    sys.argv = ["nanlint-confirm"]
    os.environ.update(HOME=scratch, TMPDIR=scratch, HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", WANDB_MODE="disabled")
    tempfile.tempdir = scratch
