"""Log mel features from a waveform."""

import torch


def log_mel(wave: torch.Tensor, filters: torch.Tensor, n_fft: int = 64, hop: int = 32) -> torch.Tensor:
    """`filters` is (mels, n_fft // 2 + 1); the result is (..., mels, frames) in decibels."""
    window = torch.hann_window(n_fft, device=wave.device)
    spectrum = torch.stft(wave, n_fft, hop, window=window, return_complex=True)
    power = spectrum.real.square() + spectrum.imag.square()
    mel = filters @ power
    return 10 * torch.log10(mel.clamp(min=1e-10))


def features(batch: dict[str, torch.Tensor], filters: torch.Tensor) -> torch.Tensor:
    out = log_mel(batch["wave"], filters)
    return out - out.mean(dim=-1, keepdim=True)
