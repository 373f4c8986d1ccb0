"""NAN503 scaler-not-restored."""

from __future__ import annotations

from nanlint.rule import Call, Direction, Facts, Finding, Hazard, Iterator, Rule, show


class ScalerNotRestored(Rule):
    """A run is resumed with its model and its optimizer, and without its GradScaler.

    ## Why it hurts
    The scale that the old run had found, 2048 say, is gone: the new scaler starts at 65536 and overflows step after step until
    it is back. Each of these steps is skipped, the schedule moves on, and where clips or checks see scaled gradients they see inf.

    ## Flagged
        scaler = torch.amp.GradScaler("cuda")
        checkpoint = torch.load("last.pt")
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])

    ## Instead
        scaler = torch.amp.GradScaler("cuda")
        checkpoint = torch.load("last.pt")
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        scaler.load_state_dict(checkpoint["scaler"])

    ## Silent when
    the file makes no GradScaler; when the state of one is loaded anywhere in it, also in code that restores whatever it is given; when
    only a model is loaded, as for fine-tuning; in a function called `reset`, which brings back the first state of a run; with Accelerate, Fabric, Lightning and DeepSpeed.

    ## Fix
    Sketch: the scaler's state must be saved first.
    """

    code = "NAN503"
    name = "scaler-not-restored"
    direction = Direction.LOOP
    calls = frozenset({".load_state_dict"})
    beside = frozenset({"GradScaler"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one load of an optimizer's state."""
        receiver = call.receiver
        if receiver is None or facts.is_test() or facts.training_role(receiver) != "optimizer":
            return
        # As a search for a learning rate does when it is through.
        if facts.function_name().startswith("reset"):
            return
        if facts.file_mentions("accelerate", "Accelerator", "lightning", "Fabric", "deepspeed"):
            return
        if not facts.makes_scaler() or facts.restores_scaler() or not facts.has_call_on("other", ".load_state_dict"):
            return
        message = "GradScaler state is not restored: the scale restarts at 65536 and the first steps may be skipped"
        hazard = Hazard("load_state_dict", facts.quote(receiver), "a scale of 65536 again")
        fix = show("save scaler.state_dict() with the others, and load it here")
        yield self.finding(facts.span_of(call.node), message, fix=fix, hazard=hazard)
