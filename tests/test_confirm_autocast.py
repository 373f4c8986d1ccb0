"""CUDA's autocast on the CPU: the dtypes are those that torch itself gives to fake cuda tensors."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch import nn  # noqa: E402 - only with torch
from torch.nn import functional  # noqa: E402 - same

from nanlint.confirm.worker.autocast import BANNED, EmulatedAutocast, Emulation, lists  # noqa: E402 - same

CASES: dict[str, Any] = {
    "matmul": lambda x: x @ x.T,
    "linear": lambda x: functional.linear(x, x),
    "exp": lambda x: (x @ x.T).exp(),
    "log": lambda x: (x @ x.T).log(),
    "softmax": lambda x: (x @ x.T).softmax(-1),
    "F.softmax": lambda x: functional.softmax(x @ x.T, dim=-1),
    "log_softmax": lambda x: (x @ x.T).log_softmax(-1),
    "sum": lambda x: (x @ x.T).sum(),
    "mean": lambda x: (x @ x.T).mean(),
    "relu": lambda x: (x @ x.T).relu(),
    "add": lambda x: (x @ x.T) + 1,
    "mixed add": lambda x: (x @ x.T) + torch.ones(4, 4, device=x.device),
    "pow": lambda x: (x @ x.T) ** 2,
    "rsqrt": lambda x: (x @ x.T).rsqrt(),
    "sqrt": lambda x: (x @ x.T).sqrt(),
    "norm": lambda x: (x @ x.T).norm(),
    "cumsum": lambda x: (x @ x.T).cumsum(0),
    "layer_norm": lambda x: functional.layer_norm(x @ x.T, (4,)),
    "mse_loss": lambda x: functional.mse_loss(x @ x.T, x @ x.T),
    "logsumexp": lambda x: (x @ x.T).logsumexp(-1),
    "reciprocal": lambda x: 1 / (x @ x.T),
    "divide": lambda x: (x @ x.T) / 2,
    "softplus": lambda x: functional.softplus(x @ x.T),
    "cosine_similarity": lambda x: functional.cosine_similarity(x @ x.T, x @ x.T),
    "acos": lambda x: (x @ x.T).acos(),
    "cat": lambda x: torch.cat([x @ x.T, torch.ones(4, 4, device=x.device)]),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
}


def on_fake_cuda(function: Any) -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: PLC0415 - slow, and for this oracle only

    with FakeTensorMode():
        torch.set_autocast_enabled("cuda", True)  # noqa: FBT003 - torch's own signature
        try:
            return function(torch.randn(4, 8, device="cuda")).dtype
        finally:
            torch.set_autocast_enabled("cuda", False)  # noqa: FBT003 - same


@pytest.mark.parametrize("name", CASES)
def test_the_emulated_dtype_is_that_of_cuda(name: str) -> None:
    with Emulation(torch.float16):
        emulated = CASES[name](torch.rand(4, 8)).dtype
    assert emulated == on_fake_cuda(CASES[name])


def test_the_lists_are_read_from_torch() -> None:
    found = lists()
    assert {"matmul", "conv2d", "linear"} <= found["lower"]
    assert {"exp", "log", "softmax", "layer_norm"} <= found["float32"]


def test_gradients_flow_through_the_casts() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 1))
    with Emulation(torch.float16):
        loss = model(torch.rand(2, 3)).float().sum()
    loss.backward()
    assert all(weight.grad is not None and weight.grad.dtype is torch.float32 for weight in model.parameters())


def test_what_cuda_refuses_is_refused() -> None:
    with EmulatedAutocast("cuda"), pytest.raises(RuntimeError, match=BANNED.split(" and ")[0]):
        functional.binary_cross_entropy(torch.rand(2), torch.rand(2))


def test_a_stretch_without_autocast_is_left_alone() -> None:
    x = torch.rand(2, 2)
    with EmulatedAutocast("cuda"):
        inside = (x @ x).dtype
        with EmulatedAutocast("cuda", enabled=False):
            outside = (x @ x).dtype
    assert (inside, outside) == (torch.float16, torch.float32)


def test_it_decorates() -> None:
    @EmulatedAutocast("cuda", dtype=torch.bfloat16)
    def product(x: Any) -> Any:
        return x @ x

    assert product(torch.rand(2, 2)).dtype is torch.bfloat16
