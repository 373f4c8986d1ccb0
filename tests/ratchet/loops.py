"""Training steps: clipping what is still scaled, stepping on a norm that is not finite, a format that is not the one asked for."""

from contextlib import nullcontext

import torch
from torch import nn


def scaled_step(model, optimizer, scaler, batch, most):
    loss = model(batch).mean()
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), most)  # expect: NAN402(error)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()


def scaled_step_cured(model, optimizer, scaler, batch, most):
    loss = model(batch).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), most)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()


class TwoNets:
    def __init__(self, image_net, text_net, optimizers, most):
        self.scaler = torch.amp.GradScaler("cuda")
        self.image_net = image_net
        self.text_net = text_net
        self.optimizers = optimizers
        self.most = most

    def step(self, loss, is_last):
        self.scaler.scale(loss).backward()
        if self.most is not None:
            nn.utils.clip_grad_norm_(self.image_net.parameters(), self.most)  # expect: NAN402(error)
        if is_last:
            for optimizer in self.optimizers:
                self.scaler.step(optimizer)
            self.scaler.update()


class Brain:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.scaler = torch.amp.GradScaler("cuda")

    def fit_batch(self, batch):
        loss = self.model(batch).mean()
        self.scaler.scale(loss).backward()
        if self.are_gradients_fine(loss):
            self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()

    def are_gradients_fine(self, loss):
        nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)  # expect: NAN402(error)
        return torch.isfinite(loss)


class ClippingHook:
    def __init__(self, clip, engine, model, optimizer):
        self.clip = clip
        self.engine = engine
        self.model = model
        self.optimizer = optimizer

    def after_batch(self, loss):
        self.engine.scaler.scale(loss).backward()
        self.clip(self.model.parameters())  # not yet: NAN402
        self.engine.scaler.step(self.optimizer)
        self.engine.scaler.update()


def checked_step(actor, optimizer, loss):
    if not torch.isfinite(loss):
        return None
    loss.backward()
    norm = nn.utils.clip_grad_norm_(actor.parameters(), 1.0)  # expect: NAN403(error)
    optimizer.step()
    return norm


def checked_step_cured(actor, optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(actor.parameters(), 1.0)
    if torch.isfinite(norm):
        optimizer.step()
    return norm


def trained(model, optimizer, batches, args):
    context = nullcontext() if args.device == "cpu" else torch.cuda.amp.autocast()  # not yet: NAN602
    scaler = torch.amp.GradScaler("cuda", enabled=args.dtype == "float16")
    for batch in batches:
        with context:
            loss = model(batch).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
