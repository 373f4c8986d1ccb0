"""What a framework does by itself is not reported: loops as the documentation of each framework writes them."""

from __future__ import annotations

import pytest

from nanlint.api import check_source
from nanlint.settings import Settings

EVERYTHING = Settings(select=("NAN4", "NAN5"), preview=True, severity="info")

ACCELERATE = """
import torch
from accelerate import Accelerator

def main(model, optimizer, loader, scheduler):
    accelerator = Accelerator(mixed_precision="fp16")
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    for epoch in range(3):
        for batch in loader:
            with accelerator.accumulate(model):
                loss = model(batch).loss
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
        accelerator.save_state("checkpoint")
"""

FABRIC = """
import torch
from lightning.fabric import Fabric

def main(model, optimizer, loader):
    fabric = Fabric(precision="16-mixed")
    fabric.launch()
    model, optimizer = fabric.setup(model, optimizer)
    for batch in fabric.setup_dataloaders(loader):
        optimizer.zero_grad()
        loss = model(batch).mean()
        fabric.backward(loss)
        fabric.clip_gradients(model, optimizer, max_norm=1.0)
        optimizer.step()
"""

LIGHTNING = """
import lightning as L
import torch

class Module(L.LightningModule):
    def training_step(self, batch, index):
        loss = self.model(batch).mean()
        self.log("loss", loss)
        return loss
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)

trainer = L.Trainer(gradient_clip_val=1.0, precision="16-mixed", detect_anomaly=True)
"""

LIGHTNING_MANUAL = """
import lightning as L
import torch

class Module(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
    def training_step(self, batch, index):
        opt = self.optimizers()
        loss = self.model(batch).mean()
        opt.zero_grad()
        self.manual_backward(loss)
        self.clip_gradients(opt, gradient_clip_val=0.5)
        opt.step()
        sch = self.lr_schedulers()
        sch.step()
"""

TRAINER = """
import torch
from transformers import Trainer

class Mine(Trainer):
    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        loss = self.compute_loss(model, inputs)
        self.accelerator.backward(loss)
        return loss.detach()
"""

DEEPSPEED = """
import deepspeed
import torch

def main(model, loader, args):
    model_engine, optimizer, _, _ = deepspeed.initialize(args=args, model=model, model_parameters=model.parameters())
    for batch in loader:
        loss = model_engine(batch)
        model_engine.backward(loss)
        model_engine.step()
    model_engine.save_checkpoint("checkpoint")
"""

FSDP = """
import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

def main(model, optimizer, loader):
    model = FSDP(model)
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch).mean()
        loss.backward()
        norm = model.clip_grad_norm_(1.0)
        if not torch.isfinite(norm):
            continue
        optimizer.step()
"""

NATIVE_SCALER = """
import torch

class NativeScaler:
    def __init__(self):
        self._scaler = torch.amp.GradScaler("cuda")
    def __call__(self, loss, optimizer, clip_grad=None, parameters=None):
        self._scaler.scale(loss).backward()
        if clip_grad is not None:
            self._scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(parameters, clip_grad)
        self._scaler.step(optimizer)
        self._scaler.update()

def train_one_epoch(model, optimizer, loss_scaler, loader):
    for batch in loader:
        loss = model(batch).mean()
        optimizer.zero_grad()
        loss_scaler(loss, optimizer, clip_grad=1.0, parameters=model.parameters())
"""

ADVERSARIES = """
import torch

def train(generator, critic, g_opt, d_opt, g_scaler, d_scaler, loader):
    for batch in loader:
        d_opt.zero_grad()
        d_scaler.scale(critic(batch).mean()).backward()
        d_scaler.unscale_(d_opt)
        torch.nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
        d_scaler.step(d_opt)
        d_scaler.update()
        g_opt.zero_grad()
        g_scaler.scale(-critic(generator(batch)).mean()).backward()
        g_scaler.unscale_(g_opt)
        torch.nn.utils.clip_grad_norm_(generator.parameters(), 1.0)
        g_scaler.step(g_opt)
        g_scaler.update()
"""

LOOPS = {
    "Accelerate": ACCELERATE,
    "Fabric": FABRIC,
    "Lightning": LIGHTNING,
    "Lightning, manual optimisation": LIGHTNING_MANUAL,
    "Trainer of transformers": TRAINER,
    "DeepSpeed": DEEPSPEED,
    "FSDP": FSDP,
    "a scaler of one's own": NATIVE_SCALER,
    "two models and two scalers": ADVERSARIES,
}


@pytest.mark.parametrize("text", LOOPS.values(), ids=LOOPS.keys())
def test_a_loop_as_its_framework_has_it_is_silent(text: str) -> None:
    assert [f"{finding.code} {finding.message}" for finding in check_source(text, settings=EVERYTHING)] == []


EITHER = """
import torch

def train(model, optimizer, loader, accelerator=None):
    for batch in loader:
        loss = model(batch).mean()
        if not torch.isfinite(loss):
            continue
        optimizer.zero_grad()
        if accelerator is not None:
            accelerator.backward(loss)
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
"""


def test_a_way_without_the_framework_is_judged_by_itself() -> None:
    assert [(each.code, each.span.line) for each in check_source(EITHER, settings=EVERYTHING)] == [("NAN403", 14)]


SWITCHED = """
import math, sys, torch

def train(model, criterion, loader, optimizer, args):
    scaler = torch.cuda.amp.GradScaler(enabled=args.amp)
    for x, y in loader:
        loss = criterion(model(x), y)
        if not math.isfinite(loss.item()):
            sys.exit(1)
        optimizer.zero_grad()
        if args.amp:
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
"""


def test_of_two_clips_behind_one_check_the_one_without_a_scaler_is_told_of() -> None:
    (found,) = (each for each in check_source(SWITCHED, settings=EVERYTHING) if each.code == "NAN403")
    assert (found.span.line, "decided-elsewhere" in found.evidence) == (19, False)


@pytest.mark.parametrize(("precision", "codes"), [("fp16", []), ("bf16", ["NAN411"]), ("no", ["NAN411"])])
def test_accelerate_skips_no_step_where_it_scales_no_loss(precision: str, codes: list[str]) -> None:
    text = ACCELERATE.replace("fp16", precision)
    assert [each.code for each in check_source(text, settings=EVERYTHING)] == codes


@pytest.mark.parametrize(
    ("text", "old", "new", "code"),
    [
        pytest.param(FSDP, "            continue\n", "            print(norm)\n", "NAN405", id="FSDP, only told"),
        pytest.param(ADVERSARIES, "        g_scaler.unscale_(g_opt)\n", "", "NAN402", id="one of two is not unscaled"),
        pytest.param(
            ADVERSARIES, "        d_scaler.update()\n", "        d_scaler.unscale_(d_opt)\n", "NAN408", id="no update"
        ),
        pytest.param(NATIVE_SCALER, "self._scaler.unscale_(optimizer)", "pass", "NAN402", id="a scaler of one's own"),
    ],
)
def test_a_mistake_in_such_a_loop_is_found(text: str, old: str, new: str, code: str) -> None:
    assert old in text
    found = check_source(text.replace(old, new), settings=EVERYTHING)
    assert code in {finding.code for finding in found}


ENGINE = """
import torch
from ignite.engine import Engine

def trainer_of(model, optimizer, scheduler):
    def train_step(engine, batch):
        optimizer.zero_grad()
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        return loss.item()

    return Engine(train_step)
"""
APEX = """
import torch
from apex import amp

def train(model, optimizer, scheduler, loader, fp16):
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch).mean()
        if fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
        else:
            loss.backward()
        scheduler.step()
        optimizer.step()
"""
STAND_IN = """
import torch
try:
    from torch.cuda.amp import GradScaler
except ImportError:
    class GradScaler:
        def step(self, optimizer):
            optimizer.step()

def train(model, optimizer, scheduler, loader, args):
    scaler = GradScaler(enabled=args.fp16)
    for batch in loader:
        optimizer.zero_grad()
        scaler.scale(model(batch).mean()).backward()
        scaler.step(optimizer)
        scheduler.step()
        scaler.update()
"""
ACCELERATED = """
import torch
from accelerate import Accelerator

def train(model, optimizer, loader, args):
    accelerator = Accelerator(mixed_precision=args.precision)
    for batch in loader:
        accelerator.backward(model(batch).mean())
        optimizer.step()
        optimizer.zero_grad()
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(ENGINE, [("NAN411", 10), ("NAN410", 11)], id="a step that ignite calls"),
        pytest.param(APEX, [("NAN410", 15), ("NAN411", 16)], id="apex reads the optimizer"),
        pytest.param(STAND_IN, [("NAN411", 15), ("NAN413", 16)], id="a stand-in for a GradScaler that torch has"),
        pytest.param(ACCELERATED, [("NAN411", 9)], id="a precision that a setting gives"),
    ],
)
def test_a_step_that_something_else_calls_or_guards_by_a_setting_is_judged(
    text: str, told: list[tuple[str, int]]
) -> None:
    assert [(each.code, each.span.line) for each in check_source(text, settings=EVERYTHING)] == told
