"""NAN407 nan-hidden."""

from __future__ import annotations

import math
import re

from nanlint.rule import Call, Direction, Expression, Facts, Finding, Hazard, Iterator, Rule, items, show

REPLACING = frozenset({"torch.nan_to_num", "numpy.nan_to_num", ".nan_to_num_"})
AVERAGING = frozenset({"torch.nanmean", "torch.nansum", "numpy.nanmean"})
ASKING = frozenset({"torch.isnan", "torch.isinf", "torch.isfinite"})
FRESH = frozenset({
    "torch.zeros_like", "torch.zeros", "torch.tensor", "torch.full_like", "torch.Tensor.new_tensor", "torch.Tensor.new_zeros",
})  # fmt: skip
SUBJECTS = frozenset({"loss", "gradients", "norm", "parameters"})
ACTIVATIONS = frozenset({"pred", "preds", "prediction", "predictions", "activation", "activations"})
KINDS = "total train text latent recon rec kl mse ce l1 aux policy value simple".split()  # noqa: SIM905 - one line
CLAMPED = frozenset({"loss", "losses", *(f"{kind}_loss" for kind in KINDS)})
# `if self.replace_nan:` is for whoever has asked for it.
VERBS = frozenset({"replace", "fill", "remove", "ignore", "convert", "sanitize", "mask"})
NAMED = re.compile(r"loss|grad", re.IGNORECASE)
FILLING = frozenset({"torch.masked_fill", "torch.where", "torch.full_like"})
MASKS = frozenset({"mask", "masks", "masked", "missing", "observed"})
# A bound that no healthy loss comes near is there for the one that exploded.
CURE = 10.0


class NanHidden(Rule):
    """A NaN in a loss, a gradient or a parameter is replaced by a number, and nobody is told.

    ## Why it hurts
    The NaN had a cause, and the cause is still there: the model that made it, the batch that triggers it, the weight that
    is already NaN. With 0 in its place the run goes on for days, learning from nothing. `clamp(max=100)` keeps NaN as it
    is, and gives an exploded loss no gradient at all.

    ## Flagged
        loss = model(batch).mean()
        loss = torch.nan_to_num(loss)
        loss.backward()
        optimizer.step()

    ## Instead
        loss = model(batch).mean()
        if not torch.isfinite(loss):
            raise FloatingPointError(f"loss is {loss.item()}")
        loss.backward()
        optimizer.step()

    ## Silent when
    it is done to inputs, labels, targets, metrics, attention weights of masked rows, or to anything that is not a loss, a
    gradient, a norm, a parameter or a prediction by its name; without a gradient; in tests; where the same `if` asserts what made it so, or asks for a setting by that name (`replace_nan`);
    where inf takes the place of NaN, which no log overlooks. At `info` for what a mask has a part in, where NaN may stand for what is missing. A `clamp` of a loss is flagged with a constant `max` of 10 or more and no `min`, for the usual names of a loss.

    ## Fix
    Sketch: what to do about a NaN is to find where it comes from.
    """

    code = "NAN407"
    name = "nan-hidden"
    direction = Direction.LOOP
    calls = REPLACING | AVERAGING | ASKING | FRESH | {"torch.clamp"}

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one call that can put a number in the place of NaN."""
        subject = call.subject if call.subject is not None else call.receiver
        if subject is None or (call.function in FRESH and not facts.mentions("isnan", "isinf", "isfinite")):
            return
        trains = facts.may_train() or facts.mentions("backward", "grad")
        if facts.is_test() or not trains or not facts.is_recorded(call.node) or facts.is_asserted_around(call.node):
            return
        number = facts.number_instead(call.node, subject) if call.function in ASKING else None
        told = self._told(call, subject, number, facts)
        if told and not facts.is_option(call.node, VERBS, "nan"):
            hazard = Hazard(call.function, facts.quote(subject), "NaN")
            fix = show("raise where it is not finite, and let `nanlint trace` tell where it comes from")
            evidence = (items.RARE,) if _is_masked(call, subject, facts) else ()
            place = call.node if number is None else number
            yield self.finding(facts.span_of(place), told, fix=fix, hazard=hazard, evidence=evidence)

    def _told(self, call: Call, subject: Expression, number: Expression | None, facts: Facts) -> str:
        """What is wrong with the call; nothing if it hides nothing."""
        thing, whole = facts.quote(subject, 30), facts.quote(call.node, 40)
        if call.function in FRESH:
            made = _made_anew(call, facts)
            return f"`{made}` becomes `{whole}` where it was not finite" if made else ""
        if not _is_trained(subject, facts) or not _counts(subject, facts):
            return ""
        if call.function in REPLACING:
            is_told = facts.constant_of(call.arguments.get("nan")) == float("inf")
            return "" if is_told else f"`{whole}` puts a number in the place of NaN in `{thing}`"
        if call.function in AVERAGING:
            return f"`{whole}` leaves every NaN of `{thing}` out of the loss"
        if call.function in ASKING:
            is_set = facts.is_index_of_target(call.node)
            told = f"becomes `{facts.quote(number)}` where it was not finite" if number is not None else ""
            told = told or (f"is overwritten where `{whole}`" if is_set else "")
            return told and f"`{thing}` {told}"
        return _clamped(call, subject, facts)


def _made_anew(call: Call, facts: Facts) -> str:
    """The loss or gradient in whose place something new is put where it, or a prediction, was not finite; "" for none."""
    check, target = facts.check_around(call.node), facts.assigned_to(call.node)
    # Labels that are NaN are missing.
    if check is None or not (check.is_about_training or ACTIVATIONS.intersection(re.split(r"\W|_", check.thing))):
        return ""
    made = facts.quote(target, 30) if target is not None else check.thing if facts.is_returned(call.node) else ""
    return made if NAMED.search(made) else ""


def _clamped(call: Call, subject: Expression, facts: Facts) -> str:
    bound = facts.constant_of(call.arguments.get("max"))
    if "min" in call.arguments or bound is None or bound < CURE or facts.source_of(subject) not in CLAMPED:
        return ""
    return f"`{facts.quote(call.node, 40)}` keeps NaN, and gives a `{facts.quote(subject, 20)}` above {bound:g} no gradient"


def _is_masked(call: Call, subject: Expression, facts: Facts) -> bool:
    """Whether some elements count for nothing, so that NaN may stand for what is missing."""
    said = facts.words_behind(subject) | set(facts.function_name().lower().split("_"))
    if call.function in REPLACING | AVERAGING and not MASKS.isdisjoint(said):
        return True
    # Who puts a NaN in means to leave it out.
    put_in = [value for fill in facts.calls_of(*FILLING) for value in fill.arguments.values()]
    return call.function in AVERAGING and any(math.isnan(facts.constant_of(value) or 0.0) for value in put_in)


def _counts(node: Expression, facts: Facts) -> bool:
    """Whether what becomes of it reaches the weights: a gradient does, a loss that is only logged does not."""
    return facts.training_subject(node) in {"gradients", "parameters", "norm"} or facts.has_gradient(node)


def _is_trained(node: Expression, facts: Facts) -> bool:
    """Whether it is a loss, a gradient, a norm or a parameter by its name, or a prediction in a function that trains."""
    subject = facts.training_subject(node)
    if subject in SUBJECTS:
        return True
    return not ACTIVATIONS.isdisjoint(facts.words_of(node)) and facts.is_trained()
