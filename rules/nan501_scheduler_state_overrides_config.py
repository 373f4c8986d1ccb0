"""NAN501 scheduler-state-overrides-config."""

from __future__ import annotations

from nanlint.rule import Call, Direction, Facts, Finding, Hazard, Iterator, Rule, unsafe

# After one of these the rate of the config counts again, or somebody has looked at both.
AGAIN = frozenset(
    {"param_groups", "base_lrs", "override_lr", "reset_lr", "set_lr", "adjust_learning_rate", "get_last_lr", "max_lrs"}
)


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
    no learning rate, horizon or scheduler is made from a config or an argument in the same function; when `param_groups`, `base_lrs` or the
    last rate is touched in the function; for a scheduler that is not known to be torch's or of transformers: others
    may leave the rate out of their state, as `ReduceLROnPlateau` does. The state of an optimizer alone
    brings back the old rate too, from which torch's schedulers go on: info, and silent beside a schedule of one's own.

    ## Fix
    Unsafe, since a run that was to go on with the old rate now goes on with that of the config: behind the last state that is loaded,
    the rate of the groups and `base_lrs` are set, and the rate in effect is scaled by as much, so that the place in the schedule
    stays. The horizon (`T_max`, `total_steps`) stays that of the state. Offered where the function makes an optimizer of
    `model.parameters()` or plain groups of them with `lr` from a config, and a scheduler of torch or transformers whose rate is a factor
    times the base, or `OneCycleLR`. None for groups with rates of their own, a floor such as `eta_min`, and plateaus or chains of schedules.
    """

    code = "NAN501"
    name = "scheduler-state-overrides-config"
    direction = Direction.LOOP
    calls = frozenset({".load_state_dict"})

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one load of a scheduler's or an optimizer's state."""
        receiver = call.receiver
        if receiver is None or facts.is_test() or facts.mentions_on_the_way(*AGAIN):
            return
        role = facts.training_role(receiver)
        rate = facts.configured_rate(receiver) if role == "optimizer" or facts.is_known_scheduler(receiver) else None
        if rate is None or facts.is_plateau(receiver) or (role == "optimizer" and facts.has_own_schedule()):
            return
        restored = "learning rate" if role == "optimizer" else "rate and schedule"
        message = f"resuming restores the saved {restored}; changing `{rate.text[:20]}` has no effect"
        labels = facts.labels_at(rate.node, "the saved state overrides this setting", apart_from=call.node)
        hazard = Hazard("load_state_dict", facts.quote(receiver), "a checkpoint with another learning rate")
        edit = facts.rate_put_in_again(call)
        fix = unsafe("Put the rate of the config in again", edit) if edit is not None else None
        yield self.finding(facts.span_of(call.node), message, fix=fix, hazard=hazard, labels=labels)
