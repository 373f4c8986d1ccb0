"""Reinforcement learner; its parts have names of their own."""

import torch
from torch import nn

from settings import Settings


class Learner:
    def __init__(self, policy: nn.Module, settings: Settings) -> None:
        self.policy = policy
        self.settings = settings
        self.solver = torch.optim.Adam(policy.parameters(), lr=settings.rates.start)
        self.annealer = torch.optim.lr_scheduler.CosineAnnealingLR(
            self.solver, T_max=settings.rounds, eta_min=settings.rates.floor
        )
        if settings.continue_from:
            self._pick_up(settings.continue_from)

    def snapshot(self) -> dict:
        parts = {"policy": self.policy, "solver": self.solver, "annealer": self.annealer}
        return {name: part.state_dict() for name, part in parts.items()}

    def _pick_up(self, path: str) -> None:
        stored = torch.load(path, weights_only=True)
        self.policy.load_state_dict(stored["policy"])
        self.solver.load_state_dict(stored["solver"])  # expect: NAN501
        self.annealer.load_state_dict(stored["annealer"])  # expect: NAN501
