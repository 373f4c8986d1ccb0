"""Inside an autocast region CUDA runs matrix products in half and a list of operations in float32."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.cuda.amp import autocast


def in_a_region(x: torch.Tensor, w: torch.Tensor) -> None:
    with torch.autocast("cuda"):
        reveal(x @ w)  # dtype: float16
        reveal(torch.matmul(x, w))  # dtype: float16
        reveal(F.linear(x, w))  # dtype: float16
        reveal(torch.bmm(x, w))  # dtype: float16
        reveal(nn.Linear(4, 4)(x))  # dtype: float16
        reveal(F.scaled_dot_product_attention(x, x, x))  # dtype: float16
        reveal(x.exp())  # dtype: float32
        reveal(x.log())  # dtype: float32
        reveal(x.softmax(-1))  # dtype: float32
        reveal(x.sum())  # dtype: float32
        reveal(x.pow(2))  # dtype: float32
        reveal(x.norm())  # dtype: float32
        reveal(F.cross_entropy(x, w))  # dtype: float32
        reveal(F.mse_loss(x, w))  # dtype: float32
        reveal(F.layer_norm(x, (4,)))  # dtype: float32
        reveal((x @ w).sigmoid())  # dtype: float16
        reveal((x @ w) + 1e-8)  # dtype: float16
        reveal((x @ w).relu())  # dtype: float16
        reveal((x @ w).exp())  # dtype: float32
        reveal((x @ w).float())  # dtype: float32
        reveal((x @ w).sum())  # dtype: float32
        reveal(x.sigmoid())  # dtype: unknown
        reveal(x.double() @ w.double())  # dtype: float64
        reveal((x @ w) / (x @ w).sum())  # dtype: float32
        reveal((x @ w).sigmoid() + 1e-8)  # range: [0, 1]; dtype: float16
        reveal((x @ w).exp() + 1e-8)  # range: [1e-08, inf]; dtype: float32
    reveal(x @ w)  # dtype: unknown


def in_bfloat16(x: torch.Tensor, w: torch.Tensor) -> None:
    with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
        reveal(x @ w)  # dtype: bfloat16
        reveal((x @ w).softmax(-1))  # dtype: float32
        with torch.autocast("cuda", enabled=False):
            reveal(x @ w)  # dtype: unknown
            reveal(x.float() @ w.float())  # dtype: float32
        reveal(x @ w)  # dtype: bfloat16


def by_other_spellings(x: torch.Tensor, w: torch.Tensor) -> None:
    with autocast():
        reveal(x @ w)  # dtype: float16
    with torch.cuda.amp.autocast(dtype=torch.bfloat16):
        reveal(x @ w)  # dtype: bfloat16
    with torch.amp.autocast("cuda", dtype=torch.float16):
        reveal(x @ w)  # dtype: float16
    with torch.autocast("cuda", torch.bfloat16):
        reveal(x @ w)  # dtype: bfloat16
    with torch.cuda.amp.autocast(False):
        reveal(x.float() @ w.float())  # dtype: float32
    with torch.autocast("cuda", torch.float16, False):
        reveal(x.float() @ w.float())  # dtype: float32
    with torch.no_grad(), torch.autocast("cuda"):
        reveal(x @ w)  # dtype: float16
    region = torch.autocast("cuda")
    with region:
        reveal(x @ w)  # dtype: float16


@torch.autocast("cuda")
def decorated(x: torch.Tensor, w: torch.Tensor) -> None:
    reveal(x @ w)  # dtype: float16
    reveal(x.float().exp())  # dtype: float32


class Model(nn.Module):
    @autocast()
    def forward(self, x):
        reveal(x @ x)  # dtype: float16
        return x


def one_branch(x: torch.Tensor, w: torch.Tensor, flag: bool) -> None:
    with torch.autocast("cuda", enabled=flag):
        reveal((x @ w).float())  # dtype: float32
    if flag:
        with torch.autocast("cuda"):
            y = x @ w
    else:
        y = x
    reveal(y)  # dtype: unknown


def scaled_training(x: torch.Tensor, w: torch.Tensor) -> None:
    scaler = torch.amp.GradScaler("cuda")
    with torch.autocast("cuda"):
        loss = F.mse_loss(x @ w, x)
        reveal(loss)  # dtype: float32
    reveal(scaler.scale(loss))  # dtype: unknown
