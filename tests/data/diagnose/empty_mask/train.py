"""python train.py"""

import torch
import yaml
from mlm import Encoder, draw_mask, reconstruction_loss


def main():
    with open("params.yaml") as file:
        params = yaml.safe_load(file)
    model = Encoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=params["lr"])
    for epoch in range(params["epochs"]):
        for step in range(50):
            windows = torch.randn(params["batch_size"], int(torch.randint(1, 40, ())), 6)
            mask = draw_mask(windows, params["mask_ratio"])
            loss = reconstruction_loss(model(windows.masked_fill(mask.unsqueeze(-1), 0.0)), windows, mask)
            optimizer.zero_grad()
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), params["grad_clip"])
            if not torch.isfinite(norm):
                raise RuntimeError(f"epoch {epoch}, step {step}: gradient norm {norm}")
            optimizer.step()


if __name__ == "__main__":
    main()
