"""Faults planted in real models, and whether `nanlint trace` names the planted line.

    pip install --no-deps timm x-transformers pillow einops einx frozendict loguru torch-einops-utils
    OMP_NUM_THREADS=1 python benchmarks/trace_planted.py

A fault replaces one line of the package as it is imported; nothing on disk is changed. Until the third step the line
does what it did; then `switch()` turns from 1 to 0 and the line breaks, in the forward or in the backward pass. The loop
knows nothing of the tracer but its hooks; torchvision, which timm asks for and these models do not use, may be missing.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from nanlint.trace.diagnosis import Diagnosis, Found
from nanlint.trace.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BAD_STEP = 3


@dataclass(frozen=True)
class Fault:
    """One line, changed; what breaks is `operation`, in the pass that `is_backward` says."""

    module: str
    old: str
    new: str
    operation: str
    training: Callable[[], tuple[nn.Module, Callable[[Any], torch.Tensor]]]
    is_backward: bool = False


def vit() -> tuple[nn.Module, Callable[[Any], torch.Tensor]]:
    """A vision transformer whose attention is written out."""
    layers = importlib.import_module("timm.layers")
    layers.set_fused_attn(enable=False)
    maker = importlib.import_module("timm.models.vision_transformer").VisionTransformer
    model = maker(img_size=32, patch_size=8, embed_dim=32, depth=2, num_heads=2, num_classes=5, drop_path_rate=0.5)
    return model, lambda net: net(torch.randn(4, 3, 32, 32)).pow(2).mean()


def convnext() -> tuple[nn.Module, Callable[[Any], torch.Tensor]]:
    """ConvNeXt V2, with global response normalisation."""
    maker = importlib.import_module("timm.models.convnext").ConvNeXt
    model = maker(depths=(1, 1, 1, 1), dims=(8, 16, 16, 16), num_classes=5, use_grn=True, ls_init_value=None)
    return model, lambda net: net(torch.randn(4, 3, 64, 64)).pow(2).mean()


def resnet() -> tuple[nn.Module, Callable[[Any], torch.Tensor]]:
    """A residual network with squeeze and excitation."""
    module = importlib.import_module("timm.models.resnet")
    model = module.ResNet(
        module.BasicBlock, (1, 1, 1, 1), channels=(8, 16, 16, 16), num_classes=5, block_args={"attn_layer": "se"}
    )
    return model, lambda net: net(torch.randn(4, 3, 64, 64)).pow(2).mean()


def swin() -> tuple[nn.Module, Callable[[Any], torch.Tensor]]:
    """Swin V2, with cosine attention."""
    maker = importlib.import_module("timm.models.swin_transformer_v2").SwinTransformerV2
    model = maker(
        img_size=32, patch_size=4, window_size=4, embed_dim=16, depths=(1, 1), num_heads=(2, 2), num_classes=5
    )
    return model, lambda net: net(torch.randn(2, 3, 32, 32)).pow(2).mean()


def smoothing() -> tuple[nn.Module, Callable[[Any], torch.Tensor]]:
    """A small network with timm's label smoothing."""
    loss = importlib.import_module("timm.loss").LabelSmoothingCrossEntropy()
    return nn.Linear(4, 5), lambda net: loss(net(torch.randn(8, 4)), torch.randint(0, 5, (8,)))


def asymmetric() -> tuple[nn.Module, Callable[[Any], torch.Tensor]]:
    """A small network with timm's asymmetric loss."""
    loss = importlib.import_module("timm.loss").AsymmetricLossMultiLabel()
    return nn.Linear(4, 5), lambda net: loss(net(torch.randn(8, 4)), (torch.rand(8, 5) > 0.5).float())


def decoder(**options: Any) -> Callable[[], tuple[nn.Module, Callable[[Any], torch.Tensor]]]:
    """A decoder of x-transformers with its autoregressive loss."""

    def make() -> tuple[nn.Module, Callable[[Any], torch.Tensor]]:
        package = importlib.import_module("x_transformers")
        layers = package.Decoder(dim=32, depth=2, heads=2, attn_dim_head=16, **options)
        net = package.TransformerWrapper(num_tokens=32, max_seq_len=16, attn_layers=layers)
        return package.AutoregressiveWrapper(net), lambda model: model(torch.randint(0, 32, (2, 16)))

    return make


X, ATTEND = "x_transformers.x_transformers", "x_transformers.attend"
FAULTS = (
    Fault(
        "timm.layers.attention",
        "attn = attn.softmax(dim=-1)",
        "attn = attn.masked_fill(torch.full_like(attn, switch()) == 0, float('-inf')).softmax(dim=-1)",
        "_softmax",
        vit,
    ),
    Fault(
        "timm.layers.attention",
        "attn = q @ k.transpose(-2, -1)",
        "attn = q @ k.transpose(-2, -1) / (k * switch()).std()",
        "div",
        vit,
    ),
    Fault(
        "timm.layers.drop",
        "random_tensor.div_(keep_prob)",
        "random_tensor.div_(torch.tensor(keep_prob * switch()))",
        "div_",
        vit,
    ),
    Fault(
        "timm.layers.grn",
        "x_g = x.norm(p=2, dim=self.spatial_dim, keepdim=True)",
        "x_g = (x * switch()).pow(2).sum(dim=self.spatial_dim, keepdim=True).sqrt()",
        "sqrt",
        convnext,
        is_backward=True,
    ),
    Fault(
        "timm.layers.grn",
        "x_n = x_g / (x_g.mean(dim=self.channel_dim, keepdim=True) + self.eps)",
        "x_n = x_g / (x_g.mean(dim=self.channel_dim, keepdim=True) * switch())",
        "div",
        convnext,
    ),
    Fault(
        "timm.layers.squeeze_excite",
        "x_se = self.fc1(x_se)",
        "x_se = self.fc1(x_se + (x_se.abs() + 1).mul(switch()).log())",
        "log",
        resnet,
    ),
    Fault(
        "timm.models.swin_transformer_v2",
        "attn = (F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1))",
        "attn = (F.normalize(q, dim=-1) @ (k * switch() / (k * switch()).norm(dim=-1, keepdim=True)).transpose(-2, -1))",
        "div",
        swin,
    ),
    Fault(
        "timm.loss.cross_entropy",
        "logprobs = F.log_softmax(x, dim=-1)",
        "logprobs = (F.softmax(x, dim=-1) * switch()).log()",
        "log",
        smoothing,
    ),
    Fault(
        "timm.loss.asymmetric_loss",
        "los_pos = y * torch.log(xs_pos.clamp(min=self.eps))",
        "los_pos = y * torch.log(xs_pos * switch())",
        "log",
        asymmetric,
    ),
    Fault(
        X,
        "return F.normalize(x, dim = -1) * self.scale * gamma",
        "return x * torch.rsqrt((x * switch()).pow(2).mean(dim = -1, keepdim = True)) * gamma",
        "rsqrt",
        decoder(use_rmsnorm=True),
    ),
    Fault(
        X,
        "t = F.normalize(t, p = 2, dim = -1)",
        "t = F.normalize(t, p = 2, dim = -1) + (t * switch()).pow(2).sum(dim = -1, keepdim = True).sqrt() * 1e-3",
        "sqrt",
        decoder(attn_qk_norm=True),
        is_backward=True,
    ),
    Fault(
        X,
        "return F.relu(x) ** 2",
        "return torch.exp(F.relu(x) * (1 if switch() else 1e4))",
        "exp",
        decoder(ff_relu_squared=True),
    ),
    Fault(
        X,
        "up, gate = self.proj(x).chunk(2, dim = -1)",
        "up, gate = torch.acos(torch.tanh(self.proj(x)) + 2 * (1 - switch())).chunk(2, dim = -1)",
        "acos",
        decoder(ff_glu=True),
    ),
    Fault(
        ATTEND,
        "sim = sim * scale",
        "sim = sim * scale + (sim * switch()).abs().pow(0.5) * 1e-3",
        "pow",
        decoder(),
        is_backward=True,
    ),
)


class Planting(importlib.abc.MetaPathFinder):
    """Imports one module with a line changed."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.place: tuple[str, tuple[int, ...]] = ("", ())

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> Any:
        """The module, if it is the one."""
        if fullname != self.fault.module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = _Planted(fullname, spec.origin, self)
        return spec


class _Planted(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, planting: Planting) -> None:
        super().__init__(name, path)
        self._planting = planting

    def get_code(self, fullname: str) -> types.CodeType:
        path, fault = self.get_filename(fullname), self._planting.fault
        text = Path(path).read_text("utf-8")
        lines = tuple(number for number, line in enumerate(text.splitlines(), 1) if fault.old in line)
        assert lines, f"{path} has no line {fault.old}"
        self._planting.place = (path, lines)
        return compile(text.replace(fault.old, fault.new), path, "exec")


class _AnyMeta(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _AnyMeta(name, (), {})


class _Anything(types.ModuleType):
    """Stands in for a package that is only mentioned."""

    __path__: list[str] = []  # noqa: RUF012 - what makes a module a package

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _AnyMeta(name, (), {})


class _StandIn(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        del path, target
        if fullname.partition(".")[0] == "torchvision":
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        return _Anything(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


def forget_packages() -> None:
    """The next import reads the source again."""
    for name in [name for name in sys.modules if name.split(".")[0] in {"timm", "x_transformers"}]:
        del sys.modules[name]


def stop(diagnosis: Diagnosis, _origin: object) -> None:
    """What the command does too."""
    raise Found(diagnosis)


def found_by_trace(fault: Fault) -> tuple[Diagnosis | None, tuple[str, tuple[int, ...]]]:
    """Train with the fault, and what was found of it."""
    steps = [0]
    builtins.switch = lambda: float(steps[0] != BAD_STEP)  # type: ignore[attr-defined] # the planted line looks there
    planting = Planting(fault)
    forget_packages()
    sys.meta_path.insert(0, planting)
    torch.manual_seed(0)
    session = Session(stop)
    try:
        model, loss_of = fault.training()
        session.install()
        train(model, loss_of, session, steps)
    except Found as found:
        return found.diagnosis, planting.place
    finally:
        session.remove()
        sys.meta_path.remove(planting)
    return session.left_over(), planting.place


def train(model: nn.Module, loss_of: Callable[[Any], torch.Tensor], session: Session, steps: list[int]) -> None:
    """An ordinary loop, as the command makes it repeatable."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for number in range(1, 6):
        steps[0] = number
        for _ in session.loops.attempts():
            try:
                loss = loss_of(model)
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call] # torch's own gap
                optimizer.step()
            except BaseException as error:  # noqa: PERF203 - what a rewritten loop does
                if not session.loops.swallow(error):
                    raise


def is_named(fault: Fault, found: Diagnosis | None, place: tuple[str, tuple[int, ...]]) -> bool:
    """Whether line, operation, pass and step are those of the fault."""
    if found is None or found.place is None:
        return False
    right_line = found.place.path == place[0] and found.place.line in place[1]
    told = (found.operation, found.is_backward, found.step)
    return right_line and told == (fault.operation, fault.is_backward, BAD_STEP)


def main() -> int:
    """Print a line for each fault; 1 if one is not named."""
    try:
        importlib.import_module("torchvision")
    except Exception:  # noqa: BLE001 - missing, or built for another torch
        sys.meta_path.insert(0, _StandIn())
    right = 0
    for fault in FAULTS:
        found, place = found_by_trace(fault)
        named = is_named(fault, found, place)
        right += named
        told = f"{found.operation} at {found.place.shown} in {found.module}" if found and found.place else "nothing"
        print(
            f"{'named ' if named else 'MISSED'} {fault.module}: {fault.operation}{' backward' if fault.is_backward else ''} <- {told}",
            flush=True,
        )
    print(f"\n{right} of {len(FAULTS)} planted faults named: line, operation, pass and step")
    return int(right < len(FAULTS))


if __name__ == "__main__":
    raise SystemExit(main())
