"""NAN501 and NAN503 where a state is restored by a helper or a framework: told once, at the call that knows the parts."""

from __future__ import annotations

import pytest

from nanlint.api import check_source
from nanlint.settings import Settings

HEADER = "import torch\nfrom torch import nn\nfrom torch.optim.lr_scheduler import StepLR\n"
IGNITE = """
from ignite.handlers import Checkpoint

def run(args, model, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    scheduler = StepLR(optimizer, step_size=10)
    to_load = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    Checkpoint.load_objects(to_load=to_load, checkpoint=torch.load(path))
"""
TIMM = """
from timm.models import resume_checkpoint

def run(args, model):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    start = resume_checkpoint(model, args.resume, optimizer=optimizer)
    return optimizer, start
"""
TRANSFORMERS = """
from transformers import Trainer, TrainingArguments

def run(args, model, data):
    training_args = TrainingArguments(output_dir=args.out, learning_rate=args.lr)
    trainer = Trainer(model=model, args=training_args, train_dataset=data)
    trainer.train(resume_from_checkpoint=args.resume)
"""
ACCELERATE = """
from accelerate import Accelerator

class Run:
    def __init__(self, config, model):
        self.accelerator = Accelerator()
        optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
        schedule = StepLR(optimizer, step_size=10)
        self.model, self.optimizer, self.schedule = self.accelerator.prepare(model, optimizer, schedule)

    def resume(self, path):
        self.accelerator.load_state(path)
"""
HELPERS = """
def load(path, parts):
    state = torch.load(path)
    for name, part in parts.items():
        part.load_state_dict(state[name])

def load_all(path, optimizer, scheduler):
    load(path, {"optimizer": optimizer, "scheduler": scheduler})

def run(args, model):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    scheduler = StepLR(optimizer, step_size=10)
    load_all(args.resume, optimizer, scheduler)
"""
BUILT = """
def build(config, model):
    optimizer = torch.optim.SGD(model.parameters(), lr=config.lr)
    return optimizer, StepLR(optimizer, step_size=10)

def run(config, model, path):
    optimizer, schedule = build(config, model)
    schedule.load_state_dict(torch.load(path)["schedule"])
"""
TWO = """
class Run:
    def __init__(self, opt, net, critic):
        self.first = torch.optim.Adam(net.parameters(), lr=opt.net_rate)
        self.second = torch.optim.Adam(critic.parameters(), lr=opt.critic_rate)
        self.falling = StepLR(self.second, step_size=10)

    def resume(self, state):
        self.falling.load_state_dict(state["falling"])
"""

BY_PLACE = """
def run(args, model, path):
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9)
    schedule = StepLR(optimizer, step_size=30, gamma=0.1)
    schedule.load_state_dict(torch.load(path)["schedule"])
"""
ATTRIBUTES = """
class Run:
    def __init__(self, cfg, net):
        self.cfg = cfg
        self.make(net)
        self.resume(cfg.path)

    def make(self, net):
        self.optimizer = torch.optim.Adam(net.parameters(), lr=self.cfg.lr)
        self.falling = StepLR(self.optimizer, step_size=10)

    def resume(self, path):
        self.falling.load_state_dict(torch.load(path)["falling"])
"""

TIMMS_SCHEDULE = """
from timm.scheduler import CosineLRScheduler

def run(args, model, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    schedule = CosineLRScheduler(optimizer, t_initial=100)
    schedule.load_state_dict(torch.load(path)["schedule"])
"""
OWN_SCHEDULE = """
class Inverse(torch.optim.lr_scheduler.LRScheduler):
    def get_lr(self):
        return [rate / (1 + self.last_epoch) for rate in self.base_lrs]

def run(args, model, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    schedule = Inverse(optimizer)
    optimizer.load_state_dict(torch.load(path)["optimizer"])
    schedule.load_state_dict(torch.load(path)["schedule"])
"""
BEHIND_DATA = """
class Run:
    def __init__(self, net, data, lr):
        self.data = data
        self.optimizer = torch.optim.Adam(net.parameters(), lr=lr)

    def resume(self, state):
        self.optimizer.load_state_dict(state["optimizer"])
"""


def found(code: str, source: str) -> list[tuple[int, str]]:
    """The lines that a rule tells of, with the words."""
    settings = Settings(select=(code,))
    return [(each.span.line, each.message) for each in check_source(HEADER + source, settings=settings)]


@pytest.mark.parametrize(
    ("source", "call", "setting"),
    [
        pytest.param(IGNITE, "load_objects", "args.lr", id="ignite"),
        pytest.param(TIMM, "resume_checkpoint(model", "args.lr", id="timm"),
        pytest.param(TRANSFORMERS, "trainer.train", "args.lr", id="transformers"),
        pytest.param(ACCELERATE, "load_state", "config.lr", id="accelerate"),
        pytest.param(HELPERS, "    load_all(args", "args.lr", id="helper of a helper"),
        pytest.param(BUILT, "schedule.load_state_dict", "config.lr", id="made by a helper"),
        pytest.param(BY_PLACE, "schedule.load_state_dict", "args.lr", id="by place"),
        pytest.param(ATTRIBUTES, "falling.load_state_dict", "self.cfg.lr", id="made by another method"),
        pytest.param(TIMMS_SCHEDULE, "schedule.load_state_dict", "args.lr", id="a schedule of timm"),
        pytest.param(OWN_SCHEDULE, "schedule.load_state_dict", "args.lr", id="a schedule of one's own"),
        pytest.param(BEHIND_DATA, "optimizer.load_state_dict", "lr", id="made behind an attribute called data"),
        pytest.param(TWO, "falling.load_state_dict", "opt.critic_rate", id="two optimizers"),
    ],
)
def test_the_call_that_knows_the_parts_is_told_with_their_setting(source: str, call: str, setting: str) -> None:
    lines = (HEADER + source).splitlines()
    told = found("NAN501", source)
    assert [call in lines[line - 1] for line, _ in told] == [True]
    assert f"`{setting}`" in told[0][1]


@pytest.mark.parametrize("again", ["scheduler.base_lrs = [args.lr]", "set_rates(optimizer, args.lr)"])
def test_a_rate_that_is_set_again_is_silent(again: str) -> None:
    helper = "def set_rates(optimizer, rate):\n    for group in optimizer.param_groups:\n        group['lr'] = rate\n"
    assert found("NAN501", f"{helper}{HELPERS}    {again}\n") == []


@pytest.mark.parametrize(
    ("asked", "is_silent"),
    [('saved["config"].lr == config.lr', True), ('saved["config"].depth == config.depth', False)],
)
def test_only_a_comparison_of_the_rate_itself_makes_a_loaded_one_silent(asked: str, *, is_silent: bool) -> None:
    source = f"""
def run(config, model, saved):
    optimizer = torch.optim.SGD(model.parameters(), lr=config.lr)
    assert {asked}
    optimizer.load_state_dict(saved["optimizer"])
"""
    assert (found("NAN501", source) == []) is is_silent


RUN = """
class Run:
    def __init__(self, config, model, anneal=0):
        self.anneal = anneal
        self.rate = config.lr
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
        self.plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer)

    def resume(self, saved):
        self.optimizer.load_state_dict(saved["optimizer"])
        {resumed}

    def train(self, batches):
        for batch in batches:
            {trained}
            self.optimizer.zero_grad()
            batch.sum().backward()
            self.optimizer.step()

    def set_rate(self):
        {switch}
        for group in self.optimizer.param_groups:
            group["lr"] = {rate}
"""


@pytest.mark.parametrize(
    ("parts", "is_silent"),
    [
        pytest.param({"trained": "self.set_rate()"}, True, id="set in every round"),
        pytest.param({"trained": "self.set_rate()", "rate": "group['lr'] / 2"}, False, id="goes on from the old rate"),
        pytest.param({"switch": "if not self.anneal: return"}, False, id="a switch that is off"),
        pytest.param({"rate": "group['lr']", "trained": "log(self.optimizer.param_groups)"}, False, id="logged"),
        pytest.param(
            {"rate": "group['lr']", "resumed": "self.plateau.load_state_dict(saved['plateau'])"}, False, id="plateau"
        ),
    ],
)
def test_a_rate_counts_again_where_training_sets_it(parts: dict[str, str], *, is_silent: bool) -> None:
    source = RUN.format(**{"resumed": "", "trained": "pass", "switch": "pass", "rate": "self.rate", **parts})
    assert (found("NAN501", source) == []) is is_silent


def test_a_schedule_of_ones_own_that_saves_its_rates_brings_them_back() -> None:
    source = """
class Falling:
    def __init__(self, optimizer):
        self.optimizer, self.base_lrs = optimizer, [group["lr"] for group in optimizer.param_groups]

    def state_dict(self):
        return {"base_lrs": self.base_lrs}

    def load_state_dict(self, state):
        self.__dict__.update(state)

    def step(self, done):
        for group, rate in zip(self.optimizer.param_groups, self.base_lrs):
            group["lr"] = rate * (1 - done)

def run(config, model, saved):
    optimizer = torch.optim.SGD(model.parameters(), lr=config.lr)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100)
    falling = Falling(optimizer) if config.falls else cosine
    optimizer.load_state_dict(saved["optimizer"])
    falling.load_state_dict(saved["falling"])
"""
    assert len(found("NAN501", source)) == 1


SCALED = """
def load(path, **parts):
    state = torch.load(path)
    for name, part in parts.items():
        part.load_state_dict(state[name])

def run(args, model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    load(args.resume, model=model, optimizer=optimizer, scaler=scaler)
    return scaler
"""
BY_NAME = """
def load(path, model, optimizer):
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])

def run(args, model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    load(args.resume, model, optimizer)
    return scaler
"""


def test_a_scaler_that_a_helper_restores_is_no_finding() -> None:
    assert found("NAN503", SCALED) == []


def test_a_scaler_that_a_helper_is_not_given_is_told_once_at_the_call() -> None:
    lines = (HEADER + BY_NAME).splitlines()
    assert [lines[line - 1].strip() for line, _ in found("NAN503", BY_NAME)] == ["load(args.resume, model, optimizer)"]
