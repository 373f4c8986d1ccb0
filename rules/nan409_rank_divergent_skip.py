"""NAN409 rank-divergent-skip."""

from __future__ import annotations

from nanlint.rule import Decision, Finding, Hazard, Iterator, Label, LoopRule, Path, TrainingLoop, show

WHY = (
    "Under DDP and FSDP every backward waits for the gradients of all ranks. This one never gets there, so the others hang "
    "until the timeout, half an hour later, or pair their gradients with those of another batch."
)


class RankDivergentSkip(LoopRule):
    """One process skips a batch that the others train on, because only it has seen the NaN.

    ## Why it hurts
    Under DDP and FSDP every backward is a collective operation: the processes wait for each other's gradients. Each has a
    batch of its own, so one of them finds its loss NaN and goes on to the next batch; the others wait for it until the
    timeout, half an hour later, or pair their gradients with those of another batch.

    ## Flagged
        model = nn.parallel.DistributedDataParallel(model)
        loss = model(batch).mean()
        if not torch.isfinite(loss):
            continue
        loss.backward()
        optimizer.step()

    ## Instead
        model = nn.parallel.DistributedDataParallel(model)
        loss = model(batch).mean()
        bad = (~torch.isfinite(loss)).float()
        torch.distributed.all_reduce(bad)
        if bad > 0:
            continue
        loss.backward()
        optimizer.step()

    ## Silent when
    the file says nothing of DDP, FSDP or process groups; when something is reduced or gathered before the check, in the
    loop or by the name of what is checked; when the check comes after the backward, whose gradients all processes share; when the
    process ends with an exception or a status, for which a launcher ends the other processes too.

    ## Fix
    Sketch: the flag must be reduced over the processes before it is asked.
    """

    code = "NAN409"
    name = "rank-divergent-skip"

    def check_loop(self, loop: TrainingLoop) -> Iterator[Finding]:
        """Judge every check of one loop that skips a batch."""
        if not loop.is_distributed():
            return
        told: set[object] = set()
        for path in loop.plain_paths:
            decision = _lonely_skip(path)
            if decision is None or decision.test in told or loop.is_step_method:
                continue
            told.add(decision.test)
            does = {"continue": "skips the batch", "exit": "ends"}.get(path.end, "leaves the loop")
            waiting = next((each for each in loop.of("backward") if each.span > decision.span), None)
            hazard = Hazard("backward", decision.thing, "not finite on one process")
            fix = show("torch.distributed.all_reduce on the flag, and every process asks what came of it")
            yield self.finding(
                decision.span,
                f"only this rank {does}: the others block in all-reduce and the job hangs",
                fix=fix,
                hazard=hazard,
                labels=(Label(waiting.span, "the other ranks wait here"),) if waiting is not None else (),
                why=WHY,
            )


def _lonely_skip(path: Path) -> Decision | None:
    """The check on which a path leaves the round before its backward, with nothing reduced until then."""
    if path.leave is None or not path.leave.is_quiet or path.places("backward", "reduce"):
        return None
    last = path.last_decision
    if last is None or not last.is_bad or last.check is None or last.check.subject != "loss":
        return None
    is_shared = any(word in last.text.lower() for word in ("reduce", "gather", "global", "world", "sync"))
    return last if not is_shared else None
