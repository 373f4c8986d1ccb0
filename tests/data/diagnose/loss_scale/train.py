"""Mixed precision with a GradScaler that is saved and restored."""

import json

import torch
from torch import nn


def build(config):
    width = config["model"]["width"]
    layers = [nn.Linear(8, width)]
    for _ in range(config["model"]["depth"]):
        layers += [nn.GELU(), nn.LayerNorm(width), nn.Linear(width, width)]
    return nn.Sequential(*layers, nn.Linear(width, 1))


def main():
    with open("config.json") as file:
        config = json.load(file)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = build(config).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), **config["optimizer"])
    scaler = torch.amp.GradScaler(device, enabled=config["train"]["fp16"])
    state = torch.load(config["train"]["resume_from"], map_location=device)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    scaler.load_state_dict(state["scaler"])
    for step in range(state["step"], config["train"]["steps"]):
        x = torch.randn(32, 8, device=device)
        with torch.autocast(device, dtype=torch.float16, enabled=device == "cuda"):
            prediction = model(x)
        loss = nn.functional.mse_loss(prediction.float(), x.sum(dim=1, keepdim=True))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), config["train"]["max_grad_norm"])
        scaler.step(optimizer)
        scaler.update()
        if step % 100 == 0:
            print(step, loss.item(), scaler.get_scale())


if __name__ == "__main__":
    main()
