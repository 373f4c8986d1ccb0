"""A learner with callbacks: checks stand before the step, and a skipped batch leaves no gradients."""

import math

import torch
from torch import nn


class Callback:
    def before_fit(self, learner): ...
    def after_batch(self, learner): ...


class StopOnNaN(Callback):
    def after_batch(self, learner):
        if math.isnan(learner.last_loss):
            raise KeyboardInterrupt("the loss is NaN")


class Learner:
    def __init__(self, model, dls, loss_func, lr=1e-2, cbs=()):
        self.model, self.dls, self.loss_func, self.lr, self.cbs = model, dls, loss_func, lr, cbs

    def one_batch(self, xb, yb):
        pred = self.model(xb)
        loss = self.loss_func(pred, yb)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 10.0)
        if not torch.isfinite(norm):
            self.opt.zero_grad()
            return
        self.opt.step()
        self.opt.zero_grad()
        self.last_loss = loss.item()

    def fit(self, n_epochs):
        self.opt = torch.optim.SGD(self.model.parameters(), self.lr, momentum=0.9)
        for cb in self.cbs:
            cb.before_fit(self)
        for self.epoch in range(n_epochs):
            for xb, yb in self.dls[0]:
                self.one_batch(xb, yb)
                for cb in self.cbs:
                    cb.after_batch(self)


def fit(epochs, model, loss_func, opt, train_dl, sched):
    for epoch in range(epochs):
        model.train()
        for xb, yb in train_dl:
            loss = loss_func(model(xb), yb)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 10.0)
            if not torch.isfinite(norm):
                opt.zero_grad()
                print("diverged")
                return
            opt.step()
            sched.step()
            opt.zero_grad()
