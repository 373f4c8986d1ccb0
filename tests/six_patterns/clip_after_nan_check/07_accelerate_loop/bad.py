"""Fine-tuning with Accelerate."""

import torch
from accelerate import Accelerator


def main(args, model, loader) -> None:
    accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=args.accumulate)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        with accelerator.accumulate(model):
            loss = model(**batch).loss
            if not torch.isfinite(accelerator.gather(loss.detach())).all():
                accelerator.print("non-finite loss, stopping")
                break
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), args.max_grad_norm)  # expect: NAN403
            optimizer.step()
            optimizer.zero_grad()
    accelerator.end_training()
