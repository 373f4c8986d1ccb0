"""NAN501 scheduler-state-overrides-config."""

from __future__ import annotations

from nanlint.rule import Direction, Finding, Iterator, OpHazard, Rule, restored, unsafe


class SchedulerStateOverridesConfig(Rule):
    """A resumed scheduler brings back the learning rate of the old run, whatever the config says now.

    ## Why it hurts
    `load_state_dict` replaces `base_lrs`, `max_lr` and `total_steps`. The config was lowered to 1e-4 because the run diverged;
    the log says 1e-4; the scheduler trains on at 5e-4 and the run diverges again.

    ## Flagged
        optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=config.steps)
        checkpoint = torch.load(config.resume)
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler.load_state_dict(checkpoint["scheduler"])

    ## Instead
        optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=config.steps)
        checkpoint = torch.load(config.resume)
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler.load_state_dict(checkpoint["scheduler"])
        scheduler.base_lrs = [config.lr]
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"] = config.lr

    ## Silent when
    nothing outside of the making says a learning rate or horizon: no config, no argument, no caller; when the function of the load looks at `param_groups`,
    `base_lrs` or the last rate outside of the training loop, or it or one that it calls sets a rate; when training sets the rate of that optimizer itself, in whatever
    function or file, unless by a setting that is off by default; for a scheduler that is not known to keep its rates in its state, as torch's, timm's and those of transformers do
    and `ReduceLROnPlateau` does not. The state of an optimizer alone brings back the old rate too, from which torch's schedulers go on: silent beside a schedule of one's own.
    A state may be restored by a helper, by Accelerate's `load_state`, Lightning's `ckpt_path`, a Trainer of transformers, ignite or timm; then it is told where the call stands that
    knows the optimizer.

    ## Fix
    Unsafe, since a run that was to go on with the old rate now goes on with that of the config: behind the last state that is loaded,
    the rate of the groups and `base_lrs` are set, and the rate in effect is scaled by as much, so that the place in the schedule
    stays. The horizon (`T_max`, `total_steps`) stays that of the state. Offered where the function makes an optimizer of
    `model.parameters()` or plain groups of them with `lr` from a config, and a scheduler of torch or transformers whose rate is a factor
    times the base, or `OneCycleLR`. None for groups with rates of their own, a floor such as `eta_min`, and plateaus or chains of schedules.
    """

    code, name = "NAN501", "scheduler-state-overrides-config"
    direction = Direction.LOOP
    hazards = (restored(),)

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Judge one call that restores a scheduler's or an optimizer's state."""
        resume = hazard.resume
        found = resume.overridden if resume is not None and not hazard.is_in_test else None
        if resume is None or found is None:
            return
        part, rate = found
        restores = "learning rate" if part.role == "optimizer" else "rate and schedule"
        edit = resume.rate_put_in_again(part)
        yield self.told(
            hazard,
            f"resuming restores the saved {restores}; changing `{resume.text_of(rate)}` has no effect",
            fix=unsafe("Put the rate of the config in again", edit),
            labels=resume.label_at(rate, "the saved state overrides this setting"),
        )
