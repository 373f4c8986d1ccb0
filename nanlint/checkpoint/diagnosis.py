"""One checkpoint, read and judged: its tensors, its optimizer, its scheduler, its loss scale."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.array_files import shards_of
from nanlint.checkpoint.contents import SCALES, Contents, Entry, Role, sort_out
from nanlint.checkpoint.distributed import INDEX_NAME, SHARD_SUFFIX, read_distributed
from nanlint.checkpoint.imports import import_symptoms
from nanlint.checkpoint.layout import INDEX
from nanlint.checkpoint.learning_rate import LearningRate, learning_rate
from nanlint.checkpoint.names import parameter_names
from nanlint.checkpoint.read import UnknownFormat, read_file
from nanlint.checkpoint.reading import UnreadableCheckpoint
from nanlint.checkpoint.region import map_file
from nanlint.checkpoint.saved import is_count, number_of
from nanlint.checkpoint.stated import Config
from nanlint.checkpoint.statistics import can_be_scanned, scan
from nanlint.checkpoint.symptoms import ERROR, NOTE, WARNING, Measured, Symptom, symptoms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from nanlint.checkpoint.layout import Checkpoint
    from nanlint.checkpoint.reading import Reading
    from nanlint.checkpoint.statistics import Statistics

Failure = tuple["Path", UnreadableCheckpoint]
"""A file, and why it cannot be read."""

CLEAN, BAD, UNREADABLE, PASSED_OVER = "clean", "bad", "unreadable", "passed over"


@dataclass(frozen=True)
class Request:
    """What the user asks of every checkpoint."""

    config: Config = field(default_factory=Config)
    trust: bool = False
    progress: Callable[[int], object] = lambda _: None


@dataclass(frozen=True)
class Diagnosis:
    """What is known of a checkpoint after reading it."""

    checkpoint: Checkpoint
    verdict: str
    tensors: int = 0
    bytes: int = 0
    step: int | None = None
    epoch: int | None = None
    formats: tuple[str, ...] = ()
    symptoms: tuple[Symptom, ...] = ()
    learning_rate: LearningRate | None = None
    failures: tuple[Failure, ...] = ()

    @property
    def errors(self) -> tuple[Symptom, ...]:
        """The symptoms that break the run."""
        return tuple(symptom for symptom in self.symptoms if symptom.level == ERROR)


def diagnose(checkpoint: Checkpoint, request: Request) -> Diagnosis:
    """Read the checkpoint and judge it; a file that cannot be read is told and the others are read."""
    contents = Contents()
    failures = [failure for file in checkpoint.files if (failure := _failure(file, checkpoint, request, contents))]
    symptoms = tuple(import_symptoms(contents.reading.imports))
    if (
        not checkpoint.is_named
        and all(isinstance(error, UnknownFormat) for _, error in failures)
        and not contents.entries
        and not symptoms
    ):
        return Diagnosis(checkpoint, PASSED_OVER)
    try:
        judged = _judged(checkpoint, contents, request, failures)
    except UnreadableCheckpoint as error:
        failures.append((checkpoint.path, error))
        judged = Diagnosis(checkpoint, UNREADABLE)
    except Exception as error:  # noqa: BLE001 - the same border as below
        failures.append((checkpoint.path, _unforeseen(error)))
        judged = Diagnosis(checkpoint, UNREADABLE)
    judged = replace(judged, symptoms=(*symptoms, *judged.symptoms), failures=tuple(failures))
    return replace(judged, verdict=BAD if judged.errors else UNREADABLE if failures else CLEAN)


def _failure(file: Path, checkpoint: Checkpoint, request: Request, contents: Contents) -> Failure | None:
    """Add what is in the file to the contents; why not, if it cannot be read."""
    try:
        for part in _parts(file, contents.reading):
            contents.reading.file = part.name if part != checkpoint.path else ""
            sort_out(_read(part, request, contents.reading), contents.reading.file, contents)
    except UnreadableCheckpoint as error:
        return file, error
    except Exception as error:  # noqa: BLE001 - a border: whatever one file makes us stumble over, the others are read
        return file, _unforeseen(error)
    return None


def _unforeseen(error: Exception) -> UnreadableCheckpoint:
    return UnreadableCheckpoint(
        f"cannot be read ({type(error).__name__}: {error!s:.120}); copy it again, and if that does not help, report it to nanlint"
    )


def _parts(file: Path, reading: Reading) -> list[Path]:
    return shards_of(map_file(file, reading), file.parent) if file.name.endswith(INDEX) else [file]


def _read(file: Path, request: Request, reading: Reading) -> Any:
    if file.name == INDEX_NAME:
        return read_distributed(file, reading)
    if file.suffix == SHARD_SUFFIX:
        raise UnreadableCheckpoint(
            f"is a shard of torch.distributed.checkpoint; name its folder, with the index {INDEX_NAME} in it, which is written last"
        )
    return read_file(file, reading, trust=request.trust)


def _judged(checkpoint: Checkpoint, contents: Contents, request: Request, failures: list[Failure]) -> Diagnosis:
    measured = list(_measured(contents, request, checkpoint, failures))
    steps = [each.statistics for each in measured if each.entry.slot == "step" and not each.statistics.bad]
    step = contents.counters.get("step", _most_steps(contents, steps))
    formats = _formats(contents, request.config)
    rate, about_rate = learning_rate(contents, request.config)
    trained = bool(step or contents.counters.get("epoch"))
    symptoms = [
        *symptoms_of(measured, formats, trained=trained),
        *_without_gradient(measured, trained=trained),
        *_scaler_symptoms(contents),
        *about_rate,
        *_number_symptoms(contents),
    ]
    return Diagnosis(
        checkpoint,
        CLEAN,
        len(contents.entries),
        sum(entry.tensor.bytes for entry in contents.entries),
        step,
        contents.counters.get("epoch"),
        formats,
        tuple(symptoms),
        rate,
    )


def _measured(
    contents: Contents, request: Request, checkpoint: Checkpoint, failures: list[Failure]
) -> Iterator[Measured]:
    """The statistics of every tensor that can be NaN; values that have two names are read once."""
    names = _names(contents)
    seen: dict[tuple[object, ...], Statistics] = {}
    missing: set[int] = set()
    for entry in contents.entries:
        place = id(entry.tensor.storage.locate) if entry.tensor.storage is not None else 0
        if not can_be_scanned(entry.tensor) or entry.tensor.identity in seen or place in missing:
            request.progress(0)
            continue
        try:
            found = scan(entry.tensor, contents.reading, request.progress)
        except UnreadableCheckpoint as error:
            missing.add(place)
            failures.append(
                (
                    checkpoint.path / entry.file if entry.file else checkpoint.path,
                    UnreadableCheckpoint(f"`{entry.name}` {error}"),
                )
            )
            continue
        seen[entry.tensor.identity] = found
        yield Measured(entry, found, _name(entry, names))


def _names(contents: Contents) -> dict[tuple[object, ...], str]:
    """The names of parameters by optimizer and number."""
    return {
        (part.file, part.path, number): name
        for part in contents.optimizers
        for number, name in parameter_names(contents, part).items()
    }


def _name(entry: Entry, names: dict[tuple[object, ...], str]) -> str:
    if entry.role is not Role.OPTIMIZER or not entry.parameter:
        return entry.name
    for length in range(len(entry.path)):
        known = names.get((entry.file, entry.path[:length], entry.parameter))
        if known is not None:
            return f"{entry.slot} of {known}"
    shape = "x".join(map(str, entry.tensor.shape)) or "a number"
    return (
        f"{entry.slot} of parameter {entry.parameter} ({shape})"
        if entry.parameter.isdigit()
        else f"{entry.slot} of {entry.parameter}"
    )


def _most_steps(contents: Contents, steps: list[Statistics]) -> int | None:
    """The number of steps by the optimizer's own count."""
    counted = [int(each.high) for each in steps if each.items]
    states = {id(part.state["state"]): part.state["state"] for part in contents.optimizers}
    for state in states.values():
        values = state.values() if isinstance(state, dict) else ()
        counted += [each["step"] for each in values if isinstance(each, dict) and is_count(each.get("step"))]
    return max(counted, default=None)


def _formats(contents: Contents, config: Config) -> tuple[str, ...]:
    """The half formats that the run uses: it has a loss scaler, holds parameters in them, or the config says so."""
    used = ["float16"] if contents.scalers else []
    used += [entry.tensor.dtype for entry in contents.entries if entry.role is Role.PARAMETER]
    return tuple(name for name in dict.fromkeys([*used, *config.formats]) if name in {"float16", "bfloat16"})


def _without_gradient(measured: list[Measured], *, trained: bool) -> Iterator[Symptom]:
    for each in measured:
        if trained and each.entry.slot == "exp_avg_sq" and each.statistics.is_zero:
            yield each.symptom(NOTE, "no-gradient", "every value is 0: the gradient has been exactly 0 in every step")


def _scaler_symptoms(contents: Contents) -> Iterator[Symptom]:
    for part in contents.scalers:
        scale = next((number for key in SCALES if (number := number_of(part.state.get(key))) is not None), None)
        if scale is None:
            continue
        if not math.isfinite(scale) or scale <= 0:
            yield Symptom(
                ERROR,
                "loss-scale",
                part.name,
                f"the loss scale is {scale:g}: every gradient becomes 0 or NaN, and no step is taken",
                part.file,
            )
        elif scale < 1:
            yield Symptom(
                WARNING,
                "loss-scale",
                part.name,
                f"the loss scale has fallen to {scale:.3g}: gradients overflowed step after step",
                part.file,
            )


def _number_symptoms(contents: Contents) -> Iterator[Symptom]:
    """Numbers that are not tensors: where there are none but those, lists of them are what was saved.

    Beside tensors a NaN is worth a note, such as a logged loss; inf is how a best loss starts, and is passed over.
    """
    lists, nans = contents.in_lists, contents.nans
    if lists.count and not contents.entries:
        more = f", as {'is' if lists.count == 2 else 'are'} {lists.count - 1:,} more" if lists.count > 1 else ""
        yield Symptom(
            ERROR, "number", lists.first, f"is NaN or inf{more}: numbers in lists, and no tensors beside them"
        )
    elif nans.count:
        more = f", as {'is' if nans.count == 2 else 'are'} {nans.count - 1:,} more" if nans.count > 1 else ""
        yield Symptom(
            NOTE, "number", nans.first, f"is NaN{more}: a loss or a metric that was not finite when this was saved"
        )
