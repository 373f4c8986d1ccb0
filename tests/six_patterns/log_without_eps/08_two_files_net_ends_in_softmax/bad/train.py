"""Train the tagger."""

import torch

from networks.tagger import Tagger


def sentence_loss(tagger: Tagger, words: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
    scores = tagger(words)
    right = torch.take_along_dim(scores, tags.unsqueeze(-1), dim=-1)
    return -right.log().mean()  # expect: NAN102|NAN110


def train(words: torch.Tensor, tags: torch.Tensor, steps: int = 100) -> Tagger:
    tagger = Tagger(vocabulary=1000, width=64, tags=12)
    optimizer = torch.optim.Adam(tagger.parameters())
    for _ in range(steps):
        optimizer.zero_grad()
        sentence_loss(tagger, words, tags).backward()
        optimizer.step()
    return tagger
