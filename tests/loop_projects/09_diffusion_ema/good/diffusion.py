"""A denoiser with an average of its weights, gradient accumulation, and nothing averaged or saved that is not finite."""

import copy
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ImageFolder(Dataset):
    def __init__(self, folder, size):
        self.paths = sorted(Path(folder).glob("**/*.png"))
        assert self.paths, f"no images in {folder}"
        self.size = size

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        from PIL import Image

        image = Image.open(self.paths[index]).resize((self.size, self.size))
        return torch.frombuffer(image.tobytes(), dtype=torch.uint8).view(self.size, self.size, 3).permute(2, 0, 1) / 255


class Denoiser(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, dim, 3, padding=1), nn.SiLU(), nn.Conv2d(dim, 3, 3, padding=1))

    def forward(self, images):
        noise = torch.randn_like(images)
        level = torch.rand(images.shape[0], 1, 1, 1, device=images.device)
        noisy = images * (1 - level) + noise * level
        return (self.net(noisy) - noise).pow(2).mean()


class EMA:
    def __init__(self, model, beta=0.995):
        self.ema_model, self.beta = copy.deepcopy(model), beta

    @torch.no_grad()
    def update(self, model):
        for average, current in zip(self.ema_model.parameters(), model.parameters()):
            average.lerp_(current, 1 - self.beta)


def cycle(loader):
    while True:
        yield from loader


class DiffusionTrainer:
    def __init__(self, model, folder, *, train_batch_size=16, gradient_accumulate_every=2, train_lr=1e-4,
                 train_num_steps=100000, save_every=2, results_folder="./results"):
        self.model = model
        self.dl = cycle(DataLoader(ImageFolder(folder, 16), batch_size=train_batch_size, shuffle=True))
        self.opt = torch.optim.Adam(model.parameters(), lr=train_lr)
        self.ema = EMA(model)
        self.step = 0
        self.train_num_steps, self.save_every = train_num_steps, save_every
        self.gradient_accumulate_every = gradient_accumulate_every
        self.results_folder = Path(results_folder)

    def save(self, milestone):
        if not all(torch.isfinite(p).all() for p in self.model.parameters()):
            return
        torch.save({"model": self.model.state_dict(), "ema": self.ema.ema_model.state_dict()}, str(self.results_folder / f"model-{milestone}.pt"))

    def train(self):
        while self.step < self.train_num_steps:
            for _ in range(self.gradient_accumulate_every):
                data = next(self.dl)
                loss = self.model(data) / self.gradient_accumulate_every
                loss.backward()
            norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            if not torch.isfinite(norm):
                self.opt.zero_grad()
                self.step += 1
                continue
            self.opt.step()
            self.opt.zero_grad()
            self.ema.update(self.model)
            self.step += 1
            if self.step % self.save_every == 0:
                self.save(self.step // self.save_every)


if __name__ == "__main__":
    DiffusionTrainer(Denoiser(32), "path/to/images").train()
