"""NAN601 uninitialised-parameter."""

from __future__ import annotations

from nanlint.rule import Call, Facts, Finding, Hazard, Iterator, Rule, items, show

EMPTY = frozenset({"torch.empty", "torch.empty_like", "torch.empty_strided", ".new_empty"})
# `torch.Tensor(4, 3)` is memory, `torch.Tensor(values)` is values.
BY_SIZE = frozenset({"torch.Tensor", "torch.FloatTensor", "torch.HalfTensor", "torch.cuda.FloatTensor"})
JOINS = frozenset({"torch.cat", "torch.stack", "torch.concat", "torch.hstack", "torch.vstack"})
ARITHMETIC = frozenset({"torch.add", "torch.sub", "torch.mul", "torch.div"})
SIZES = frozenset({"dim", "dims", "size", "num", "n", "hidden", "channels", "features", "heads", "units", "width", "len", "embed", "classes"})  # fmt: skip


class UninitialisedParameter(Rule):
    """A parameter, or a padding, is made of bare memory, or it is computed with, and nothing in the file writes it.

    ## Why it hurts
    `torch.empty` hands out memory as it was left: often zeros on the first run, then the numbers of another tensor, then
    NaN. The loss is NaN at step 0 on one machine and fine on the next, and differs with every run.

    ## Flagged
        class Scale(nn.Module):
            def __init__(self, dim):
                super().__init__()
                self.gain = nn.Parameter(torch.empty(dim))
                self.shift = nn.Parameter(torch.empty(dim))
                nn.init.zeros_(self.shift)

    ## Instead
        class Scale(nn.Module):
            def __init__(self, dim):
                super().__init__()
                self.gain = nn.Parameter(torch.empty(dim))
                self.shift = nn.Parameter(torch.empty(dim))
                nn.init.zeros_(self.shift)
                nn.init.ones_(self.gain)

    ## Silent when
    anything in the file fills a parameter of this name: `nn.init`, `fill_` and its like, `_init_weights` of another class, a
    loop over `parameters()`; a class above comes from another file and may do it, as one that is called a mixin or `PreTrainedModel` does not, or there is none; another method sets it; the class is for loading only, as quantised
    layers and those for inference are, or holds the experts of a mixture, which are gathered from a pretrained model; it is not
    learned (`requires_grad=False`); the memory is on the `meta` device, has no elements, holds integers, or is one
    element that stands in for the values of another way through the function; in tests. At `info` below such a class, for what `torch.empty` makes in a file that
    initialises nothing, or loads a checkpoint and trains nothing, and for a padding, which is mostly cut off again.

    ## Fix
    Sketch: which initialisation is right depends on the layer.
    """

    code = "NAN601"
    name = "uninitialised-parameter"
    dtypes = ("float16", "bfloat16", "float32", "float64")
    calls = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter", *JOINS, *ARITHMETIC})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge the making of one parameter, or the joining of tensors."""
        if call.function in JOINS:
            yield from self._padding(call, facts)
            return
        if call.function in ARITHMETIC:
            yield from self._computed(call, facts)
            return
        given, learned = call.subject or call.arguments.get("data"), call.arguments.get("requires_grad")
        memory = facts.origin_of(given)
        if memory is None or facts.is_test() or not _is_bare(memory, facts):
            return
        if learned is not None and facts.value_of(learned).constant is False:
            return
        name = facts.unfilled_name(call)
        is_single = all(facts.constant_of(size) == 1 for size in facts.positional(memory))
        if name and not (is_single and facts.is_stand_in(name)):
            yield self.finding(
                facts.span_of(call.node),
                f"`{name}` is whatever `{facts.quote(memory.node, 30)}` finds in memory: nothing here writes it",
                fix=show(f"nn.init.xavier_uniform_(self.{name}), or nn.init.zeros_ for a bias"),
                hazard=Hazard(memory.function, name, "memory that holds NaN"),
                # Who writes `empty` knows what it is, and initialises somewhere.
                evidence=(items.DECIDED_ELSEWHERE,)
                if facts.may_be_filled_above(call) or (memory.function in EMPTY and facts.is_for_loading())
                else (),
            )

    def _computed(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Bare memory that is computed with as it is made: nobody can have filled it."""
        for memory in map(facts.origin_of, call.arguments.values()):
            if memory is None or memory.function not in EMPTY or not facts.is_within(memory.node, call.node):
                continue
            if not facts.is_test() and _is_bare(memory, facts):
                message = f"`{facts.quote(call.node, 45)}` computes with memory as it is: nothing writes it"
                yield self.finding(
                    facts.span_of(call.node), message, fix=show("torch.full, or torch.zeros, in its place")
                )

    def _padding(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Bare memory that is written out among the tensors that are joined: nobody can have filled it."""
        joined = call.arguments.get("tensors") or call.subject
        for part in facts.value_of(joined).parts if joined is not None and not facts.is_test() else ():
            memory = part.made_by
            if (
                memory is not None
                and memory.function in EMPTY
                and facts.is_within(memory.node, call.node)
                and _is_bare(memory, facts)
            ):
                message = f"`{facts.quote(memory.node, 40)}` is joined as memory holds it: nothing writes it"
                yield self.finding(
                    facts.span_of(memory.node), message, fix=show("torch.zeros in its place"), evidence=(items.RARE,)
                )


def _is_bare(memory: Call, facts: Facts) -> bool:
    """Whether a tensor is made of memory as it is: with elements, of floats, on a real device."""
    sizes = facts.positional(memory)
    if sizes and "expert" in facts.source_of(sizes[0]):
        return False
    if memory.function in BY_SIZE:
        known = [facts.is_number(size) or facts.is_named_for(size, SIZES) for size in sizes]
        return len(sizes) > 1 or (any(known) and facts.constant_of(sizes[0]) != 0)
    if memory.function not in EMPTY or facts.value_of(memory.node).dtype in {"int", "bool"}:
        return False
    device = memory.arguments.get("device")
    if device is not None and "meta" in facts.source_of(device):
        return False
    return all(facts.constant_of(size) != 0 for size in sizes)
