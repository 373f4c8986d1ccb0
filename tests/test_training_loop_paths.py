"""The ways through a training loop: conditions that agree with each other, exits, and what a check asks about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.loops_told import in_a_loop, loops_in, ways_of
from tests.revealing import facts_about

if TYPE_CHECKING:
    from nanlint.facts.finite_checks import Check

# -- paths ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "ways"),
    [
        pytest.param(
            """
            loss.backward()
            if (index + 1) % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
            """,
            ["backward step zero_grad", "backward"],
            id="accumulation",
        ),
        pytest.param(
            """
            if scaler is not None:
                scaler.scale(loss).backward()
            else:
                loss.backward()
            if scaler is None:
                optimizer.step()
            else:
                scaler.step(optimizer)
            """,
            ["scale backward step", "backward step"],
            id="one switch, asked twice",
        ),
        pytest.param(
            """
            if config.amp and scaler:
                scaler.scale(loss).backward()
            else:
                loss.backward()
            if config.amp and scaler:
                scaler.step(optimizer)
            else:
                optimizer.step()
            """,
            ["scale backward step", "backward step"],
            id="a switch of two parts",
        ),
        pytest.param(
            """
            skip = False
            loss.backward()
            if not torch.isfinite(loss):
                skip = True
            if not skip:
                optimizer.step()
            """,
            ["backward bad(loss)", "backward fine(loss) step"],
            id="a flag",
        ),
        pytest.param(
            """
            use = config.amp
            if use:
                loss.backward()
            use = other()
            if use:
                optimizer.step()
            """,
            ["backward step", "backward", "step", ""],
            id="a name that changed in between",
        ),
        pytest.param(
            """
            loss.backward()
            for p in model.parameters():
                if torch.isnan(p.grad).any():
                    break
            optimizer.step()
            """,
            ["backward bad(gradients) step", "backward fine(gradients) step"],
            id="break of an inner loop",
        ),
        pytest.param(
            """
            try:
                loss.backward()
                optimizer.step()
            except RuntimeError:
                continue
            """,
            ["backward step", "-> continue"],
            id="try",
        ),
        pytest.param(
            """
            loss.backward()
            assert torch.isfinite(loss)
            optimizer.step()
            """,
            ["backward fine(loss) step", "backward bad(loss) -> raise"],
            id="assert",
        ),
        pytest.param(
            """
            loss.backward()
            if math.isnan(loss.item()):
                sys.exit(1)
            optimizer.step()
            """,
            ["backward bad(loss) -> exit", "backward fine(loss) step"],
            id="exit",
        ),
        pytest.param(
            """
            loss.backward()
            if torch.isnan(loss) or torch.isinf(loss):
                print("bad")
            if torch.isfinite(loss):
                optimizer.step()
            """,
            ["backward bad(loss) bad(loss)", "backward fine(loss) fine(loss) step", "backward fine(loss) bad(loss)"],
            id="what is not finite stays so",
        ),
        pytest.param(
            """
            with torch.autocast("cuda"):
                loss = model(batch)
            loss.backward()
            with config.context():
                optimizer.step()
            """,
            ["backward step"],
            id="with",
        ),
    ],
)
def test_the_ways_through_a_round(body: str, ways: list[str]) -> None:
    assert ways_of(in_a_loop(body)) == ways


def test_a_return_in_a_helper_ends_the_helper_alone() -> None:
    (loop,) = loops_in(
        """
        def train(model, optimizer, loader):
            for batch in loader:
                step(model, optimizer, model(batch))
                optimizer.zero_grad()
        def step(model, optimizer, loss):
            if not torch.isfinite(loss):
                return
            loss.backward()
            optimizer.step()
        """
    )
    assert ways_of(loop) == ["bad(loss) zero_grad", "fine(loss) backward step zero_grad"]


def test_a_helper_that_raises_is_followed_and_one_that_answers_is_asked() -> None:
    (loop,) = loops_in(
        """
        def train(model, optimizer, loader):
            for batch in loader:
                loss = model(batch)
                require_finite(loss)
                if has_nan(loss):
                    continue
                loss.backward()
                optimizer.step()
        def require_finite(loss):
            if not torch.isfinite(loss):
                raise ValueError("diverged")
        def has_nan(x):
            return torch.isnan(x).any()
        """
    )
    assert ways_of(loop) == [
        "bad(loss) -> raise",
        "fine(loss) bad(loss) -> continue",
        "fine(loss) fine(loss) backward step",
    ]


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param("if prepare(model, loss):", id="asked at once"),
        pytest.param("ok = prepare(model, loss)\n                if ok:", id="asked by a name"),
        pytest.param(
            "if not prepare(model, loss):\n                    continue\n                if True:", id="denied"
        ),
    ],
)
def test_the_answer_of_a_helper_is_known_where_it_is_asked(asked: str) -> None:
    (loop,) = loops_in(
        f"""
        def train(model, optimizer, loader):
            for batch in loader:
                loss = model(batch)
                loss.backward()
                {asked}
                    optimizer.step()
        def prepare(model, loss):
            if not torch.isfinite(loss):
                return False
            clip_grad_norm_(model.parameters(), 1.0)
            return True
        """
    )
    ways = [way.removesuffix(" -> continue") for way in ways_of(loop)]
    assert ways == ["backward bad(loss)", "backward fine(loss) clip step"]


def test_a_round_with_too_many_ways_has_none() -> None:
    branches = "\n".join(f"if config.a{index}:\n    optimizer.zero_grad()" for index in range(12))
    loop = in_a_loop(f"{branches}\nloss.backward()\noptimizer.step()")
    assert loop.paths == ()
    assert len(loop.events) == 14


# -- checks --------------------------------------------------------------------------------------------------------


def check(condition: str, before: str = "pass") -> Check | None:
    facts = facts_about(
        f"def f(loss, grad_norm, model, x, debug, p):\n    {before}\n    if reveal({condition}): pass\n"
    )
    (call,) = facts.calls_of("reveal")
    return facts.check_of(call.arguments["0"])


@pytest.mark.parametrize(
    ("condition", "subject", "catches", "bad_when"),
    [
        pytest.param("torch.isnan(loss)", "loss", {"nan"}, True, id="isnan"),
        pytest.param("loss.isinf().any()", "loss", {"inf"}, True, id="isinf"),
        pytest.param("not torch.isfinite(loss).all()", "loss", {"nan", "inf"}, True, id="not isfinite"),
        pytest.param("math.isfinite(loss.item())", "loss", {"nan", "inf"}, False, id="isfinite of a number"),
        pytest.param("torch.isnan(loss) or torch.isinf(loss)", "loss", {"nan", "inf"}, True, id="or"),
        pytest.param("torch.isnan(loss) | torch.isinf(loss)", "loss", {"nan", "inf"}, True, id="or of tensors"),
        pytest.param("torch.isnan(loss).sum() > 0", "loss", {"nan"}, True, id="counted"),
        pytest.param("torch.isnan(loss).sum() == 0", "loss", {"nan"}, False, id="counted as none"),
        pytest.param("loss != loss", "loss", {"nan"}, True, id="differs from itself"),
        pytest.param("grad_norm > 1e4", "norm", {"inf"}, True, id="a threshold"),
        pytest.param("grad_norm < 1e4", "norm", {"nan", "inf"}, False, id="a threshold, the other way round"),
        pytest.param("torch.isnan(p.grad).any()", "gradients", {"nan"}, True, id="a gradient"),
        pytest.param(
            "any(torch.isnan(q).any() for q in model.parameters())", "parameters", {"nan"}, True, id="weights"
        ),
        pytest.param("torch.isnan(x).any()", "other", {"nan"}, True, id="an input"),
        pytest.param("torch.isnan(val_loss)", "other", {"nan"}, True, id="a validation loss"),
        pytest.param("has_nan_or_inf(loss)", "loss", {"nan", "inf"}, True, id="a helper by its name"),
        pytest.param("is_finite(loss)", "loss", {"nan", "inf"}, False, id="a helper for the good"),
    ],
)
def test_a_check_says_what_it_asks_about_what_it_catches_and_which_answer_is_bad(
    condition: str, subject: str, catches: set[str], *, bad_when: bool
) -> None:
    found = check(condition)
    assert found is not None
    assert (found.subject, set(found.catches), found.bad_when, found.is_sure) == (subject, catches, bad_when, True)


@pytest.mark.parametrize(
    ("before", "condition"),
    [
        pytest.param("ok = torch.isfinite(loss)", "not ok", id="a flag"),
        pytest.param("value = loss.detach().item()", "math.isnan(value)", id="a number read from it"),
        pytest.param("bad = torch.isnan(loss) or torch.isinf(loss)", "bad", id="a combined flag"),
        pytest.param(
            "total = model(x)\n    total.backward()", "torch.isnan(total)", id="what the backward starts from"
        ),
    ],
)
def test_a_check_is_known_through_names(before: str, condition: str) -> None:
    found = check(condition, before)
    assert found is not None
    assert (found.subject, found.bad_when) == ("loss", True)


def test_the_norm_of_a_clip_is_a_norm_whatever_its_name() -> None:
    found = check("torch.isnan(total)", "total = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)")
    assert found is not None
    assert found.subject == "norm"


@pytest.mark.parametrize(
    ("condition", "is_sure"),
    [
        pytest.param("debug and torch.isnan(loss)", False, id="only when debugging"),
        pytest.param("p.grad is not None and torch.isnan(p.grad).any()", True, id="only if there is one"),
        pytest.param("debug or torch.isnan(loss)", True, id="and for other reasons"),
        pytest.param("torch.isfinite(loss) and torch.isfinite(grad_norm)", True, id="both"),
    ],
)
def test_a_check_that_can_be_switched_off_is_not_sure(condition: str, *, is_sure: bool) -> None:
    found = check(condition)
    assert found is not None
    assert found.is_sure is is_sure


@pytest.mark.parametrize("condition", ["loss > 3", "loss < best", "x is None", "debug", "len(x) == 0"])
def test_other_conditions_are_no_checks(condition: str) -> None:
    assert check(condition) is None
