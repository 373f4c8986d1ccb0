"""CTC over utterances that are shorter than their transcripts."""

import torch.nn.functional as F
from torch import nn


class SpeechHead(nn.Module):
    def __init__(self, width, letters):
        super().__init__()
        self.letters = nn.Linear(width, letters)
        self.loss = nn.CTCLoss(blank=0, reduction="sum")  # expect: NAN109(warning)

    def forward(self, frames, frame_counts, text, text_counts):
        scores = self.letters(frames).log_softmax(2).transpose(0, 1)
        return self.loss(scores, text, frame_counts, text_counts)


class SpeechHead_cured(nn.Module):
    def __init__(self, width, letters):
        super().__init__()
        self.letters = nn.Linear(width, letters)
        self.loss = nn.CTCLoss(blank=0, reduction="sum", zero_infinity=True)

    def forward(self, frames, frame_counts, text, text_counts):
        scores = self.letters(frames).log_softmax(2).transpose(0, 1)
        return self.loss(scores, text, frame_counts, text_counts)


def transcript_loss(scores, text, frame_counts, text_counts):
    return F.ctc_loss(scores, text, frame_counts, text_counts)  # expect: NAN109(warning)


def transcript_loss_cured(scores, text, frame_counts, text_counts):
    return F.ctc_loss(scores, text, frame_counts, text_counts, zero_infinity=True)
