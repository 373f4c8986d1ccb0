"""What follows from how a value was made: signs, floors, bounds, cosines, the parts of what networks return."""

from __future__ import annotations

from tests.analysed import ranges


def test_what_one_of_several_networks_returns_is_known_part_by_part() -> None:
    """Behind `.to(device)`, in an attribute, and with a None that is not called."""
    source = """
        class One(nn.Module):
            def forward(self, x):
                return x, x.log_softmax(-1)

        class Other(nn.Module):
            def forward(self, x):
                return x, -x.sigmoid()

        class Agent:
            def __init__(self, small, device):
                self.late = None
                self.net = One().to(device) if small else Other().to(device)

            def build(self):
                self.late = Other().cuda()

            def act(self, state):
                q, logp = self.net(state)
                reveal(logp)
                q, logp = self.late(state)
                reveal(logp)
    """
    assert ranges(source) == ["(-inf, 0]", "[-1, 0]"]


def test_what_is_kept_by_making() -> None:
    source = """
        def f(x: torch.Tensor, mask: torch.Tensor, n):
            p = x.softmax(-1)
            reveal(p + (p == 0) * 1e-8)
            reveal(1 / F.softplus(x).clamp(min=1e-7))
            reveal(torch.empty(3).exponential_())
            reveal(np.random.uniform(-1, 1, size=3))
            reveal(F.mse_loss(p, (x > 0).float(), reduction="none"))
            reveal(torch.dot(x, x))
            kept = x > 0
            kept[0] = True
            reveal(kept.sum())
            reveal(torch.ones(3) / n)
            chosen = p.detach().float() * (x.detach() < 2).float() > 0
            reveal(x[chosen])
            if n > 3:
                y = x
                1 / 0
            else:
                y = p
            reveal(y)
            _, place = x.max(-1)
            shifted = x - x.gather(-1, place.unsqueeze(-1))
            reveal(shifted)
            reveal(shifted.exp().sum(-1))
            reveal(shifted.exp().sum(0))
    """
    assert ranges(source) == [
        "(0, 1]",
        "(0, 1e+07]",
        "(0, inf)",
        "[-1, 1]",
        "[0, 1]",
        "[0, inf)",
        "[1, inf)",
        "[-inf, inf] except 0",
        "(-inf, 2]",
        "[0, 1]",
        "(-inf, 0]",
        "[1, inf)",
        "[0, inf)",
    ]


def test_rows_that_were_divided_by_their_lengths_have_cosines() -> None:
    source = """
        class Normalize(nn.Module):
            def __init__(self, power=2):
                super().__init__()
                self.power = power

            def forward(self, x):
                return x.div(x.pow(self.power).sum(1, keepdim=True).pow(1.0 / self.power))

        class Embed(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Sequential(nn.Linear(3, 3), Normalize(2))

            def forward(self, x):
                return self.net(x)

        def f(x: torch.Tensor, y: torch.Tensor):
            embed = Embed()
            u, v, w = embed(x), F.normalize(y), x / x.norm(dim=1, keepdim=True)
            reveal(u @ v.t())
            reveal(torch.bmm(w[:, None], v[:, :, None]))
            reveal(torch.einsum("nc,kc->nk", torch.cat([u, v]), w))
            reveal((u * w).sum(-1))
            reveal(F.linear(u, F.normalize(w)))
            reveal(torch.einsum("nc,nc->", u, v))
            reveal(u @ y.t())
            reveal(torch.cat([u, v], 1) @ torch.cat([v, w], 1).t())
            reveal(F.normalize(x, p=float("inf")) @ v.t())
    """
    cosines = ["[-1, 1] or nan", "[-1, 1] or nan", "[-1, 1]", "[-1, 1] or nan", "[-1, 1] or nan"]
    assert ranges(source)[:5] == cosines
    assert all("inf, inf)" in reach or "inf, inf]" in reach for reach in ranges(source)[5:])


def test_a_leaf_is_what_it_was_made_as_while_its_constructor_runs() -> None:
    source = """
        class Agent:
            def __init__(self):
                self.log_alpha = torch.zeros(1, requires_grad=True)
                self.alpha = self.log_alpha.exp()
                reveal(self.alpha)

            def train(self):
                reveal(self.log_alpha)
                reveal(self.log_alpha.exp())
    """
    assert ranges(source) == ["[1, 1]", "(-inf, inf)", "[0, inf]"]


def test_a_row_of_cosines_holds_the_one_with_itself() -> None:
    source = """
        def f(x: torch.Tensor, y: torch.Tensor):
            x = x / (torch.sqrt(torch.sum(x**2, dim=1, keepdim=True)) + 1e-6)
            x[x != x] = 0
            cosines = torch.mm(x, x.transpose(0, 1))
            reveal(torch.sum((cosines + 1.0) / 2.0, dim=1, keepdim=True))
            reveal(torch.sum(cosines, dim=1, keepdim=True))
            reveal(torch.sum((torch.mm(x, F.normalize(y).t()) + 1.0) / 2.0, dim=1, keepdim=True))
    """
    assert ranges(source) == ["(0, inf)", "(-inf, inf)", "(-inf, inf)"]


def test_a_layer_of_torch_or_a_network_of_the_project() -> None:
    source = """
        class Criterion(nn.Module):
            def forward(self, x):
                return x.sigmoid()

        class Loss:
            def __init__(self, other):
                self.criterion = nn.Tanh() if other else Criterion()

            def loss(self, x):
                reveal(self.criterion(x))
    """
    assert ranges(source) == ["[-1, 1]"]
