"""accelerate launch --config_file accelerate.yaml train_cond_ldm.py --cfg configs/radio_train_m.yaml"""

import argparse

import torch
import yaml
from accelerate import Accelerator
from ddm_const_sde import simple_loss


def main(cfg):
    trainer = cfg["trainer"]
    accelerator = Accelerator(mixed_precision="fp16" if trainer["fp16"] else None)
    model = torch.nn.Conv2d(1, 1, 3, padding=1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=float(trainer["lr"]))
    model, optimizer = accelerator.prepare(model, optimizer)
    for step in range(trainer["train_num_steps"]):
        images, t = torch.rand(trainer["batch_size"], 1, 32, 32), torch.rand(trainer["batch_size"])
        noisy = images + t[:, None, None, None] * torch.randn_like(images)
        loss = simple_loss(model(noisy), images, t)
        optimizer.zero_grad()
        accelerator.backward(loss)
        norm = accelerator.clip_grad_norm_(model.parameters(), trainer["max_grad_norm"])
        if not torch.isfinite(norm):
            raise RuntimeError(f"step {step}: gradient norm {norm}")
        optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cfg", default="configs/radio_train_m.yaml")
    with open(parser.parse_args().cfg) as file:
        main(yaml.safe_load(file))
