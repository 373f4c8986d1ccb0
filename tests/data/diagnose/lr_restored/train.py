"""A character model that goes on from a checkpoint; the rate was lowered in the config after the loss had jumped."""

import torch
import yaml
from model import CharModel


def build(config):
    model = CharModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"], weight_decay=config["weight_decay"])
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=config["max_steps"])
    step = 0
    if config.get("resume"):
        state = torch.load(config["resume"], map_location="cpu")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])  # planted
        scheduler.load_state_dict(state["scheduler"])  # planted
        step = state["step"]
    return model, optimizer, scheduler, step


def main():
    with open("config.yaml") as file:
        config = yaml.safe_load(file)
    model, optimizer, scheduler, step = build(config)
    while step < config["max_steps"]:
        tokens = torch.randint(64, (config["batch_size"], 17))
        logits = model(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), config["grad_clip"])
        if not torch.isfinite(norm):
            raise RuntimeError(f"step {step}: gradient norm {norm}")
        optimizer.step()
        scheduler.step()
        step += 1


if __name__ == "__main__":
    main()
