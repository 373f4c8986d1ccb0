"""Trains the heads; a batch whose gradient is not finite is left out."""

import config
import torch
from losses import beta_mi
from model import Heads


def train():
    embeddings = torch.load(config.EMBEDDINGS)["embeddings"]
    student = Heads(config.HEADS, config.EMBEDDING_DIM, config.CLUSTERS)
    teacher = Heads(config.HEADS, config.EMBEDDING_DIM, config.CLUSTERS)
    optimizer = torch.optim.AdamW(student.parameters(), lr=config.LEARNING_RATE)
    for epoch in range(config.EPOCHS):
        for batch in embeddings.split(config.BATCH_SIZE):
            with torch.no_grad():
                targets = [logits / config.TEACHER_TEMP for logits in teacher(batch)]
            losses = []
            for logits, target in zip(student(batch), targets):
                marginal = target.softmax(dim=-1).mean(dim=0)
                losses.append(beta_mi(logits / config.STUDENT_TEMP, target, marginal, config.BETA))
            loss = torch.stack(losses).mean()
            optimizer.zero_grad()
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(student.parameters(), config.CLIP_GRAD)
            if not torch.isfinite(norm):
                print(f"epoch {epoch}: non-finite gradients, skipping batch")
                optimizer.zero_grad()
                continue
            optimizer.step()


if __name__ == "__main__":
    train()
