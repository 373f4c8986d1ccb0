"""A GAN in one function: two optimizers, noise made on the spot, a clip that comes after the step."""

import argparse

import torch
from torch import nn


def build(args):
    generator = nn.Sequential(nn.Linear(args.latent, 128), nn.LeakyReLU(0.2), nn.Linear(128, 784), nn.Tanh())
    critic = nn.Sequential(nn.Linear(784, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
    return generator.to(args.device), critic.to(args.device)


def train(args):
    generator, critic = build(args)
    opt_g = torch.optim.RMSprop(generator.parameters(), lr=args.lr)
    opt_d = torch.optim.RMSprop(critic.parameters(), lr=args.lr)
    images = torch.load(args.images)
    for epoch in range(args.epochs):
        for start in range(0, len(images), args.batch):
            real = images[start : start + args.batch].to(args.device)
            noise = torch.randn(real.shape[0], args.latent, device=args.device)
            loss_d = critic(generator(noise).detach()).mean() - critic(real.flatten(1)).mean()
            opt_d.zero_grad()
            loss_d.backward()
            opt_d.step()
            nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
            noise = torch.randn(args.batch, args.latent, device=args.device)
            loss_g = -critic(generator(noise)).mean()
            opt_g.zero_grad()
            loss_g.backward()
            opt_g.step()
        torch.save(generator.state_dict(), "generator.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("images", type=str)
    parser.add_argument("--latent", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--lr", type=float, default=5e-5)
    parser.add_argument("--device", default="cuda")
    train(parser.parse_args())
