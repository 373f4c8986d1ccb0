"""Two tables of embeddings and their product: most rows get no gradient in a step."""

import torch
import yaml
from torch import nn


class Recommender(nn.Module):
    def __init__(self, users: int = 200, items: int = 300, dim: int = 8) -> None:
        super().__init__()
        self.users = nn.Embedding(users, dim)
        self.items = nn.Embedding(items, dim)

    def forward(self, user: torch.Tensor, item: torch.Tensor) -> torch.Tensor:
        return (self.users(user) * self.items(item)).sum(dim=-1)


def main():
    with open("conf/train.yaml") as file:
        config = yaml.safe_load(file)
    torch.manual_seed(config["seed"])
    model = Recommender()
    given = config["optimizer"]
    optimizer = torch.optim.Adam(model.parameters(), lr=given["lr"], betas=tuple(given["betas"]), eps=given["eps"])
    for step in range(config["trainer"]["max_steps"]):
        user, item = torch.randint(200, (16,)), torch.randint(300, (16,))
        clicked = torch.randint(2, (16,)).float()
        loss = nn.functional.binary_cross_entropy_with_logits(model(user, item), clicked)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), config["trainer"]["max_grad_norm"])
        if not torch.isfinite(norm):
            raise RuntimeError(f"step {step}: gradient norm {norm}")
        optimizer.step()


if __name__ == "__main__":
    main()
