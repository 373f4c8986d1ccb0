"""Several processes, one run: all ranks act at the same step, and one of them tells what was found."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import torch

from nanlint.trace.diagnosis import ELSEWHERE, OPERATION, Diagnosis
from nanlint.trace.names import is_wrapped, living_modules

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE = 20.0
"""Seconds that a rank waits for what the others found."""
_PAUSE = 0.05
_PREFERENCE = {OPERATION: 0, ELSEWHERE: 2}


def rank() -> int:
    """The number of this process."""
    return int(os.environ.get("RANK", "0"))


def world() -> int:
    """How many processes there are."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_spread() -> bool:
    """Whether a model is trained by several processes in step, so that they have to act together."""
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1):
        return False
    return any(is_wrapped(module) for module in living_modules())


def on_any_rank(here: bool) -> bool:  # noqa: FBT001 - the one thing it is asked about
    """Whether it is so on this rank or on any other; every rank has to ask."""
    device = "cuda" if torch.distributed.get_backend() == "nccl" else "cpu"
    flag = torch.tensor(float(here), device=device)
    torch.distributed.all_reduce(flag, torch.distributed.ReduceOp.MAX)
    return bool(flag.item())


def exchange(own: Diagnosis, folder: Path) -> list[Diagnosis]:
    """What the ranks on this machine found, in order; only the own one if nobody else answers in time."""
    own.rank, own.world = rank(), world()
    local = int(os.environ.get("LOCAL_WORLD_SIZE", str(own.world)))
    if local == 1:
        return [own]
    meeting = _meeting(folder)
    meeting.mkdir(parents=True, exist_ok=True)
    draft = meeting / f"{own.rank}.part"
    draft.write_text(json.dumps(own.to_json()), encoding="utf-8")
    draft.rename(draft.with_suffix(".json"))
    deadline = time.monotonic() + PATIENCE
    while len(files := sorted(meeting.glob("*.json"))) < local and time.monotonic() < deadline:
        time.sleep(_PAUSE)
    return sorted((Diagnosis.from_json(json.loads(file.read_text("utf-8"))) for file in files), key=lambda d: d.rank)


def _meeting(folder: Path) -> Path:
    return folder / f"ranks-{_run_name()}"


def finish(folder: Path, *, is_teller: bool) -> None:
    """End together: a launcher stops every rank as soon as one has ended, the one that is still telling too."""
    if world() == 1:
        return
    done = _meeting(folder) / "told"
    if is_teller:
        done.touch()
    deadline = time.monotonic() + PATIENCE
    while not done.exists() and time.monotonic() < deadline:
        time.sleep(_PAUSE)


def _run_name() -> str:
    """The same for all ranks of a run, and another for the next run."""
    parts = (os.environ.get("TORCHELASTIC_RUN_ID", "run"), os.environ.get("MASTER_PORT", "0"), str(os.getppid()))
    return "-".join("".join(letter for letter in part if letter.isalnum()) for part in parts)


def merged(found: list[Diagnosis]) -> Diagnosis:
    """The diagnosis of the rank where it began, with a word about the others."""
    first = min(found, key=lambda each: (_PREFERENCE.get(each.kind, 1), each.rank))
    others = [str(each.rank) for each in found if each is not first]
    if others:
        also = [str(each.rank) for each in found if each is not first and each.kind != ELSEWHERE]
        passive = [each for each in others if each not in also]
        if also:
            first.notes.append(f"found on rank {', '.join(also)} as well")
        if passive:
            first.notes.append(f"rank {', '.join(passive)} got it from the exchange of gradients")
    return first
