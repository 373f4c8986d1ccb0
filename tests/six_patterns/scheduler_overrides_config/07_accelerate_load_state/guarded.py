"""Train a diffusion model with Accelerate."""

import torch
from accelerate import Accelerator


def main(args, unet, loader, loss_of) -> None:
    accelerator = Accelerator(mixed_precision=args.mixed_precision)
    optimizer = torch.optim.AdamW(unet.parameters(), lr=args.learning_rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=args.warmup_steps)
    unet, optimizer, loader, schedule = accelerator.prepare(unet, optimizer, loader, schedule)
    if args.resume_from_checkpoint:
        accelerator.print(f"resuming from {args.resume_from_checkpoint}")
        accelerator.load_state(args.resume_from_checkpoint)
        schedule.scheduler.base_lrs = [args.learning_rate] * len(optimizer.param_groups)
        for group in optimizer.param_groups:
            group["lr"] = args.learning_rate
    for batch in loader:
        loss = loss_of(unet, batch)
        accelerator.backward(loss)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
