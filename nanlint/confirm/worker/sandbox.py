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


def close_the_doors(job: Json, scratch: str, *, has_processes: bool = False, can_unshare: bool = True) -> Walls:
    """Work in `scratch` from now on, with no network, no programs and no writes elsewhere, within the job's limits."""
    without: Collection[str] = job.get("without", ())
    on_gpu = str(job.get("device", "cpu")) != "cpu"
    devices = gpu_devices() if on_gpu else ()
    names: list[str] = []
    if can_unshare and kernel.IS_LINUX and NAMESPACES not in without:
        names += namespaces.enter(scratch, devices=devices, has_processes=has_processes)
    memory = job.get("memory", MEMORY)
    limited = LIMITS not in without and limits.limit(seconds=job["timeout"], memory=memory, on_gpu=on_gpu)
    if kernel.IS_LINUX:
        with contextlib.suppress(OSError):
            kernel.give_up_capabilities()
    if SECCOMP not in without and seccomp.restrict(on_gpu=on_gpu):
        names.append(SECCOMP)
    if LANDLOCK not in without and landlock.confine(scratch, devices=devices):
        names.append(LANDLOCK)
    names += [LIMITS] if limited else []
    _settle_in(scratch)
    if AUDIT_HOOK in without:
        return Walls(tuple(names), [])
    blocked = watch(scratch)
    return Walls((*names, AUDIT_HOOK), blocked)


def _settle_in(scratch: str) -> None:
    os.chdir(scratch)
    sys.dont_write_bytecode = True
    sys.argv = ["nanlint-confirm"]
    os.environ.update(HOME=scratch, TMPDIR=scratch, HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", WANDB_MODE="disabled")
    tempfile.tempdir = scratch
