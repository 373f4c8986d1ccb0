"""How fast `nanlint checkpoint` reads a file of 2 GB, against just reading it, and how much memory it takes.

    python benchmarks/checkpoint.py [--size 2.0] [--rounds 5] [--folder DIR]

Each run is a process of its own with one thread; only the reading is timed, not the import of torch. The file is in the
page cache and nothing waits for a disk, so the target is judged in CPU seconds, which other work on the machine disturbs
least; wall seconds are shown beside them and mean something on an idle machine only. The memory is
the peak of the resident pages, mapped ones included, above what the process held with torch imported (Linux only). Runs
take turns; of each program the best time and the worst memory count.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parent.parent
MOST_MEGABYTES = 200
LEAST_SPEED = {".pt": 0.2, ".safetensors": 0.6}
"""Of just reading. A torch file has checksums, and computing them takes longer than all the rest."""

READ = """
import sys, time
buffer = bytearray(1 << 20)
with open(sys.argv[1], "rb", buffering=0) as file:
    start, began = time.process_time(), time.perf_counter()
    while file.readinto(buffer):
        pass
print(time.process_time() - start, time.perf_counter() - began, 0)
"""

_WEIGH = """
def resident(what):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(what))
"""

SCAN = """
import sys, time
from pathlib import Path
import torch
from nanlint.checkpoint.diagnosis import CLEAN, Request, diagnose
from nanlint.checkpoint.layout import checkpoints
torch.set_num_threads(1)
torch.aminmax(torch.zeros(1 << 20))
before = resident("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
start, began = time.process_time(), time.perf_counter()
(found,) = [diagnose(each, Request()) for each in checkpoints([Path(sys.argv[1])])]
seconds, waited = time.process_time() - start, time.perf_counter() - began
assert found.verdict == CLEAN, found.symptoms[:3]
print(seconds, waited, resident("VmHWM") - before)
"""

LOAD = """
import sys, time
import torch
torch.set_num_threads(1)
torch.aminmax(torch.zeros(1 << 20))
before = resident("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
start, began = time.process_time(), time.perf_counter()
state = torch.load(sys.argv[1], mmap=True)
assert all(torch.isfinite(value).all() for value in state.values())
print(time.process_time() - start, time.perf_counter() - began, resident("VmHWM") - before)
"""


def make_files(folder: Path, gigabytes: float) -> dict[str, Path]:
    """The same tensors as torch saves them and as safetensors."""
    import torch  # noqa: PLC0415 - the measuring process needs none

    each = 4 << 20
    count = max(1, round(gigabytes * 1e9 / (4 * each)))
    torch.manual_seed(0)
    state = {f"layers.{index}.weight": torch.randn(each // 1024, 1024) for index in range(count)}
    files = {".pt": folder / "model.pt", ".safetensors": folder / "model.safetensors"}
    torch.save(state, files[".pt"])
    header = {
        name: {"dtype": "F32", "shape": list(value.shape), "data_offsets": [4 * each * index, 4 * each * (index + 1)]}
        for index, (name, value) in enumerate(state.items())
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with files[".safetensors"].open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for value in state.values():
            file.write(value.numpy().tobytes())
    return files


class Usage(NamedTuple):
    """What one run used: CPU seconds, wall seconds, megabytes."""

    cpu: float
    wall: float
    megabytes: float


def measure(program: str, path: Path) -> Usage:
    """One run of the program on the file."""
    words = [sys.executable, "-c", _WEIGH + program, str(path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return Usage(*map(float, done.stdout.split()))


def best(programs: Mapping[str, tuple[str, Path]], rounds: int) -> dict[str, Usage]:
    """The least seconds and the most memory of each program in `rounds` rounds."""
    found: dict[str, Usage] = {}
    for _ in range(rounds):
        for name, (program, path) in programs.items():
            new = measure(program, path)
            old = found.get(name, new)
            found[name] = Usage(min(new.cpu, old.cpu), min(new.wall, old.wall), max(new.megabytes, old.megabytes))
    return found


def main() -> int:
    """Print the table; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--size", type=float, default=2.0, help="gigabytes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the files are made; a temporary folder otherwise")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        files = make_files(Path(folder), options.size)
        programs = {
            **{f"read {suffix}": (READ, path) for suffix, path in files.items()},
            **{f"nanlint checkpoint {suffix}": (SCAN, path) for suffix, path in files.items()},
            "torch.load(mmap=True), isfinite .pt": (LOAD, files[".pt"]),
        }
        found = best(programs, options.rounds)
        size = files[".pt"].stat().st_size / 1e9
    print(f"{size:.2f} GB, page cache warm, best of {options.rounds}\n")
    print("| what | GB per CPU second | of reading | by the clock | peak memory beyond torch, MB |")
    print("|---|--:|--:|--:|--:|")
    missed = False
    for name, used in found.items():
        suffix = name.rpartition(" ")[2]
        read = found[f"read {suffix}"]
        speed, clock = read.cpu / used.cpu, read.wall / used.wall
        print(f"| {name} | {size / used.cpu:.2f} | {speed:.2f}x | {clock:.2f}x | {used.megabytes:.0f} |")
        missed |= name.startswith("nanlint") and (speed < LEAST_SPEED[suffix] or used.megabytes > MOST_MEGABYTES)
    least = " and ".join(f"{speed}x ({suffix})" for suffix, speed in LEAST_SPEED.items())
    print(f"\nTarget: at least {least} of reading, at most {MOST_MEGABYTES} MB: {'missed' if missed else 'met'}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
