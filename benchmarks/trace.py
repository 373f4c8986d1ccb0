"""What watching costs: a training step plain, watched by `nanlint trace`, and under the alternatives, side by side.

Run it with one thread on a quiet machine:

    OMP_NUM_THREADS=1 python benchmarks/trace.py

Every variant runs a few steps in turn, over and over, so that noise meets all alike; the fastest run of each counts. What is
measured is processor time of one thread, which other work on the machine disturbs less than time on the clock.
`watched, alone` is the cost of the light check measured by itself, as a share of the plain step.
"""

from __future__ import annotations

import argparse
import math
import time
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from nanlint.trace.diagnosis import Diagnosis, Found
from nanlint.trace.session import Session
from nanlint.trace.tracer import Tracer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

LIMIT = 1.03


class Block(nn.Module):
    """A transformer block."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.inner = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attention and a small network, each with a way around it."""
        y = self.first(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        result: torch.Tensor = x + self.inner(self.second(x))
        return result


class Transformer(nn.Module):
    """About a million parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(512, 128)
        self.blocks = nn.Sequential(*(Block(128, 4) for _ in range(4)))
        self.head = nn.Linear(128, 512)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits for every token."""
        logits: torch.Tensor = self.head(self.blocks(self.table(tokens)))
        return logits


def cnn() -> nn.Module:
    """Three convolutions with batch norm."""
    widths = (3, 32, 64, 64)
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class Training:
    """A model with its optimizer and batches, one step at a time."""

    def __init__(self, model: nn.Module, inputs: torch.Tensor, labels: torch.Tensor) -> None:
        self.model, self._inputs, self._labels = model, inputs, labels
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step(self) -> None:
        """Forward, backward, update."""
        logits = self.model(self._inputs)
        loss = nn.functional.cross_entropy(logits.flatten(0, -2), self._labels.flatten())
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call] # torch's own gap
        self.optimizer.step()


def trainings() -> dict[str, Training]:
    """The two models of the table."""
    torch.manual_seed(0)
    tokens = torch.randint(0, 512, (8, 64))
    images, labels = torch.randn(32, 3, 64, 64), torch.randint(0, 10, (32,))
    return {"small transformer": Training(Transformer(), tokens, tokens), "small CNN": Training(cnn(), images, labels)}


class EveryOperation(TorchDispatchMode):  # type: ignore[no-untyped-call] # same
    """What one writes by hand: `isfinite().all()` on every result."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation and look at what came out."""
        del types
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.is_floating_point() and not bool(torch.isfinite(result).all()):
            raise FloatingPointError(str(func))
        return result


@contextmanager
def traced() -> Iterator[None]:
    """The look of nanlint at every operation, as in a replay."""
    tracer = Tracer()
    tracer.start()
    try:
        yield
    finally:
        tracer.stop()


def steps_of(training: Training, around: Callable[[], AbstractContextManager[Any]], count: int) -> float:
    """Processor seconds per step."""
    with around():
        started = time.process_time()
        for _ in range(count):
            training.step()
        return (time.process_time() - started) / count


def watched_steps(training: Training, session: Session, count: int) -> float:
    """Processor seconds per step of a loop as `nanlint trace` runs it."""
    session.install()
    try:
        started = time.process_time()
        for _ in range(count):
            for _again in session.loops.attempts():
                training.step()
        return (time.process_time() - started) / count
    finally:
        session.remove()


def light_check(training: Training, session: Session, count: int) -> float:
    """Seconds of the watch alone: a turn with its mark, one loss noted, and the check before the step."""
    loss = torch.ones(())
    started = time.process_time()
    for _ in range(count):
        for _again in session.loops.attempts():
            session.before_backward([loss])
            session.before_step(training.optimizer, (training.optimizer,), {})
            session.after_step(training.optimizer, (), {})
    return (time.process_time() - started) / count


def stop(diagnosis: Diagnosis, _origin: object) -> None:
    """A benchmark trains well; should it not, it ends."""
    raise Found(diagnosis)


def measure(training: Training, rounds: int, count: int) -> dict[str, float]:
    """The fastest time of each variant."""
    session = Session(stop)
    variants: dict[str, Callable[[], float]] = {
        "plain": lambda: steps_of(training, nullcontext, count),
        "nanlint trace, watching": lambda: watched_steps(training, session, count),
        "nanlint trace --mode live": lambda: steps_of(training, traced, count),
        "torch.autograd.detect_anomaly": lambda: steps_of(training, torch.autograd.detect_anomaly, count),
        "isfinite().all() on every operation": lambda: steps_of(training, EveryOperation, count),
    }
    best = dict.fromkeys(variants, math.inf)
    for _ in range(rounds):
        for name, run in variants.items():
            best[name] = min(best[name], run())
    best["watched, alone"] = min(light_check(training, session, count) for _ in range(rounds))
    return best


def table(results: dict[str, dict[str, float]]) -> str:
    """Markdown: milliseconds per step and the ratio to plain."""
    models = list(results)
    lines = [f"| step of a | {' | '.join(models)} |", f"|---|{'---|' * len(models)}"]
    for variant in results[models[0]]:
        cells = []
        for model in models:
            plain, own = results[model]["plain"], results[model][variant]
            ratio = 1 + own / plain if variant == "watched, alone" else own / plain
            cells.append(f"{1000 * own:.2f} ms, {ratio:.3f}x")
        lines.append(f"| {variant} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Print the table; 1 if watching costs more than its limit, by its isolated cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, default=4)
    options = parser.parse_args()
    torch.set_num_threads(1)
    results = {name: measure(each, options.rounds, options.steps) for name, each in trainings().items()}
    print(table(results))
    worst = max(1 + times["watched, alone"] / times["plain"] for times in results.values())
    print(f"\nwatching, worst of the models: {worst:.3f}x (limit {LIMIT}x)")
    return int(worst > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
