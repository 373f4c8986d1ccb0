"""NAN503 scaler-not-restored."""

from __future__ import annotations

from nanlint.rule import Direction, Finding, Iterator, OpHazard, Rule, restored, show, word_set

# They restore it by themselves.
FRAMEWORKS = word_set("accelerate Accelerator lightning Fabric deepspeed")


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
    the file makes no GradScaler; when the state of one is restored anywhere in it, also by helpers and in code that restores whatever it is given; when
    only a model is loaded, as for fine-tuning; in a function called `reset`, which brings back the first state of a run; with Accelerate, Fabric, Lightning and DeepSpeed.

    ## Fix
    Sketch: the scaler's state must be saved first.
    """

    code, name = "NAN503", "scaler-not-restored"
    direction = Direction.LOOP
    hazards = (restored(),)
    beside = frozenset({"GradScaler"})

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Judge one call that restores an optimizer's state."""
        # As a search for a learning rate does when it is through.
        is_aside = hazard.is_in_test or hazard.function.name.startswith("reset")
        if is_aside or not FRAMEWORKS.isdisjoint(hazard.file_names):
            return
        if hazard.resume is not None and hazard.resume.loses_scaler:
            message = "GradScaler state is not restored: the scale restarts at 65536 and the first steps may be skipped"
            fix = show("save scaler.state_dict() with the others, and load it here")
            yield self.told(hazard, message, fix=fix)
