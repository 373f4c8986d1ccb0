"""Fine-tune a classifier with a schedule from transformers."""

from pathlib import Path

import torch
from transformers import AutoModelForSequenceClassification, get_linear_schedule_with_warmup


def load_run(config, total_steps: int):
    model = AutoModelForSequenceClassification.from_pretrained(config.model_name)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.learning_rate)
    lr_scheduler = get_linear_schedule_with_warmup(
        optimizer, num_warmup_steps=config.warmup, num_training_steps=total_steps
    )
    last = Path(config.output_dir) / "trainer_state.pt"
    if last.exists():
        state = torch.load(last, map_location="cpu", weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])  # expect: NAN501
        lr_scheduler.load_state_dict(state["lr_scheduler"])  # expect: NAN501
    return model, optimizer, lr_scheduler
