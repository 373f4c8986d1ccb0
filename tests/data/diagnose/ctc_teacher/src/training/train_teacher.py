"""python src/training/train_teacher.py --data_dir data/teacher_features"""

import argparse
import logging
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from models.i3d_teacher import Teacher

logger = logging.getLogger(__name__)


def batches(folder, batch_size):
    features = torch.from_numpy(np.load(Path(folder) / "features.npy"))
    labels = torch.from_numpy(np.load(Path(folder) / "labels.npy"))
    frames = torch.from_numpy(np.load(Path(folder) / "frames.npy"))
    words = torch.from_numpy(np.load(Path(folder) / "words.npy"))
    for start in range(0, len(features), batch_size):
        part = slice(start, start + batch_size)
        yield features[part], labels[part], frames[part], words[part]


def train_epoch(model, loader, criterion, optimizer, scaler, device):
    for step, (features, labels, input_lengths, target_lengths) in enumerate(loader):
        optimizer.zero_grad()
        with torch.autocast(device, enabled=device == "cuda"):
            log_probs = model(features.to(device))
            loss = criterion(log_probs.float().transpose(0, 1), labels, input_lengths, target_lengths)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(grad_norm):
            logger.warning("NaN/Inf gradient at batch %d", step)
        scaler.step(optimizer)
        scaler.update()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data_dir", default="data/teacher_features")
    parser.add_argument("--learning_rate", type=float, default=1e-4)
    parser.add_argument("--batch_size", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Teacher().to(device)
    criterion = nn.CTCLoss(blank=0)  # planted
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate, weight_decay=1e-2)
    scaler = torch.amp.GradScaler(device, enabled=device == "cuda")
    for _ in range(args.epochs):
        train_epoch(model, batches(args.data_dir, args.batch_size), criterion, optimizer, scaler, device)


if __name__ == "__main__":
    main()
