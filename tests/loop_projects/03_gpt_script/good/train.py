"""A nanoGPT-like script: everything at the top level, batches from a memmap, gradients are unscaled before they are clipped."""

import os
import time

import numpy as np
import torch
import torch.nn as nn
from torch.nn import functional as F

out_dir = "out"
data_dir = os.path.join("data", "openwebtext")
batch_size = 12
block_size = 64
n_embd = 64
vocab_size = 256
learning_rate = 6e-4
max_iters = 600000
grad_clip = 1.0
always_save_checkpoint = True
eval_interval = 2
device = "cuda"
train_data = np.memmap(os.path.join(data_dir, "train.bin"), dtype=np.uint16, mode="r")


def get_batch():
    ix = torch.randint(len(train_data) - block_size, (batch_size,))
    x = torch.stack([torch.from_numpy((train_data[i : i + block_size]).astype(np.int64)) for i in ix])
    y = torch.stack([torch.from_numpy((train_data[i + 1 : i + 1 + block_size]).astype(np.int64)) for i in ix])
    return x.to(device), y.to(device)


class Bigram(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.lm_head = nn.Linear(n_embd, vocab_size)

    def forward(self, idx, targets):
        logits = self.lm_head(self.wte(idx % vocab_size))
        loss = F.cross_entropy(logits.view(-1, vocab_size), (targets % vocab_size).view(-1))
        return logits, loss


model = Bigram()
model.to(device)
scaler = torch.amp.GradScaler("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95))
X, Y = get_batch()
t0 = time.time()
iter_num = 0
while True:
    with torch.amp.autocast(device_type="cuda", dtype=torch.float16):
        logits, loss = model(X, Y)
    X, Y = get_batch()
    scaler.scale(loss).backward()
    if grad_clip != 0.0:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    if iter_num % eval_interval == 0 and always_save_checkpoint and torch.isfinite(loss):
        torch.save({"model": model.state_dict(), "iter_num": iter_num}, os.path.join(out_dir, "ckpt.pt"))
    iter_num += 1
    if iter_num > max_iters:
        break
