"""The ways through a training loop: conditions that agree with each other, and exits."""

from __future__ import annotations

import pytest

from tests.loops_told import in_a_loop, loops_in, ways_of

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
