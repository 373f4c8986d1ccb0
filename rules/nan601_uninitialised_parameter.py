"""NAN601 uninitialised-parameter."""

from __future__ import annotations

from nanlint.rule import Finding, Iterator, OpHazard, Rule, bare_memory, every, items, show, torch_names

PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")
JOINS = torch_names("cat stack concat hstack vstack")
ARITHMETIC = torch_names("add sub mul div")
QUOTED = 30


class UninitialisedParameter(Rule):
    """A parameter, or a padding, is made of bare memory, or it is computed with, and nothing in the project writes it.

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
    its file, that of a class above, or a file that imports one of these fills a parameter of this name: `nn.init`, `fill_` and its like,
    `_init_weights` of another class, a loop over `parameters()`; the object is handed to what fills it, as by `kaiming_init(self)` and `self.apply(init)`;
    a class above is of another project and may do it, as one that is called a mixin or `PreTrainedModel` does not, or there is none; another method sets it; the class is for loading only, as quantised
    layers and those for inference are, or holds the experts of a mixture, which are gathered from a pretrained model; it is not
    learned (`requires_grad=False`); the memory is on the `meta` device, has no elements, holds integers, or is one
    element that stands in for the values of another way through the function; in tests. At `info` below such a class, for what `torch.empty` makes in a file that
    initialises nothing, or loads a checkpoint and trains nothing, and for a padding, which is mostly cut off again.

    ## Fix
    Sketch: which initialisation is right depends on the layer.
    """

    code, name = "NAN601", "uninitialised-parameter"
    hazards = (
        *(every(parameter, operand) for parameter in PARAMETERS for operand in ("0", "data")),
        *(every(function) for function in bare_memory.EMPTY),
    )

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Judge the making of one parameter, or what memory is joined to or computed with before anything else."""
        if hazard.is_in_test:
            return
        if hazard.operand_name:
            yield from self._parameter(hazard)
            return
        for user, value in hazard.only_given_to(JOINS | ARITHMETIC):
            if bare_memory.bare(value) is not hazard.op:
                continue
            if user.function in JOINS:
                message = f"`{hazard.quoted(hazard.op, 40)}` is joined as memory holds it: nothing writes it"
                fix, place = show("torch.zeros in its place"), hazard.span
            else:
                message = f"`{hazard.quoted(user, 45)}` computes with memory as it is: nothing writes it"
                fix, place = show("torch.full, or torch.zeros, in its place"), hazard.span_of(user)
            evidence = (items.RARE,) if user.function in JOINS else ()
            yield self.told(hazard, message, at=place, fix=fix, evidence=evidence)

    def _parameter(self, hazard: OpHazard) -> Iterator[Finding]:
        found = bare_memory.unwritten(hazard.op, hazard.function)
        if found is not None:
            quoted = hazard.quoted(found.memory, QUOTED)
            yield self.told(
                hazard,
                f"`{found.name}` is whatever `{quoted}` finds in memory: nothing here writes it",
                fix=show(f"nn.init.xavier_uniform_(self.{found.name}), or nn.init.zeros_ for a bias"),
                # Who writes `empty` knows what it is, and initialises somewhere.
                evidence=(items.DECIDED_ELSEWHERE,) if found.may_be_written_elsewhere else (),
            )
