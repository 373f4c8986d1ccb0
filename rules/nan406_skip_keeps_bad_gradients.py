"""NAN406 skip-keeps-bad-gradients."""

from __future__ import annotations

from nanlint.rule import Finding, Fix, Hazard, Iterator, LoopRule, Path, TrainingLoop, items, safe

CLEARING = ("zero_grad", "clear")


class SkipKeepsBadGradients(LoopRule):
    """A batch is skipped after its backward, and its gradients are still there when the next one adds its own.

    ## Why it hurts
    `backward` adds to `.grad`. A NaN that is left there turns the sum of every later batch into NaN: each of them is
    then skipped as well, or, where the check is about the loss, written into the weights.

    ## Flagged
        loss = model(batch).mean()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(norm):
            continue
        optimizer.step()
        optimizer.zero_grad()

    ## Instead
        loss = model(batch).mean()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(norm):
            optimizer.zero_grad(set_to_none=True)
            continue
        optimizer.step()
        optimizer.zero_grad()

    ## Silent when
    the gradients are zeroed before the next backward: in the skipping branch, or at the top of the loop on some path; when
    the batch is skipped before its backward; when the loop ends; when nothing in the function zeroes gradients, so that
    it is up to the caller.

    ## Fix
    Safe: `zero_grad(set_to_none=True)` goes above the `continue` or `return`. Finite batches never get there.
    """

    code = "NAN406"
    name = "skip-keeps-bad-gradients"
    evidence = (items.LOST_AT_ONCE,)

    def check_loop(self, loop: TrainingLoop) -> Iterator[Finding]:
        """Judge every path of one loop that leaves it early."""
        if not loop.of("zero_grad") or any(_begins_clean(path) for path in loop.paths) or loop.of("opaque"):
            return
        told: set[object] = set()
        for path in loop.paths:
            leave = path.leave
            if leave is None or leave.node in told or not _keeps(path, is_method=loop.is_step_method):
                continue
            told.add(leave.node)
            check = path.last_decision
            if check is None:
                continue
            message = f"`{leave.how}` after `{check.quote(35)}` keeps the bad gradients for the next backward"
            hazard = Hazard("backward", check.thing, "inf or NaN")
            yield self.finding(leave.span, message, fix=_fix(loop, path), hazard=hazard)


def _begins_clean(path: Path) -> bool:
    """Whether gradients are zeroed before the first backward of a round."""
    starts = path.places("backward")
    return bool(starts) and path.between(-1, starts[0], *CLEARING)


def _keeps(path: Path, *, is_method: bool) -> bool:
    """Whether the path has made gradients, found them bad, and leaves them there for a next round."""
    ends = {"continue", "return"} if is_method else {"continue"}
    starts = path.places("backward")
    if path.end not in ends or not starts or path.between(starts[-1], len(path.steps), *CLEARING, "step"):
        return False
    last = path.last_decision
    return last is not None and last.is_bad and path.steps.index(last) > starts[-1]


def _fix(loop: TrainingLoop, path: Path) -> Fix | None:
    leave = path.leave
    zeroing = [event for event in loop.of("zero_grad") if leave is not None and event.code is leave.code]
    if leave is None or not zeroing or len({event.target for event in zeroing}) != 1:
        return None
    edit = leave.line_before(f"{zeroing[0].receiver}.zero_grad(set_to_none=True)")
    return safe("Zero the gradients before the next batch", edit)
