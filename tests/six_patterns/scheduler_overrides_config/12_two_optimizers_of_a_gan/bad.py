"""GAN training: two optimizers with rates of their own."""

import torch
from torch import nn


class Adversaries:
    def __init__(self, generator: nn.Module, critic: nn.Module, opt) -> None:
        self.opt = opt
        self.nets = {"g": generator, "d": critic}
        self.g_optim = torch.optim.Adam(generator.parameters(), lr=opt.lr_g, betas=(0.0, 0.99))
        self.d_optim = torch.optim.Adam(critic.parameters(), lr=opt.lr_d, betas=(0.0, 0.99))

    def store(self, path) -> None:
        nets = {name: net.state_dict() for name, net in self.nets.items()}
        torch.save({**nets, "g_optim": self.g_optim.state_dict(), "d_optim": self.d_optim.state_dict()}, path)

    def load(self, path) -> None:
        ckpt = torch.load(path, map_location=lambda storage, loc: storage, weights_only=True)
        for name, net in self.nets.items():
            net.load_state_dict(ckpt[name])
        self.g_optim.load_state_dict(ckpt["g_optim"])  # expect: NAN501
        self.d_optim.load_state_dict(ckpt["d_optim"])  # expect: NAN501

    def train_critic(self, real: torch.Tensor, noise: torch.Tensor) -> None:
        fake = self.nets["g"](noise).detach()
        loss = (
            nn.functional.softplus(self.nets["d"](fake)).mean() + nn.functional.softplus(-self.nets["d"](real)).mean()
        )
        self.d_optim.zero_grad()
        loss.backward()
        self.d_optim.step()
