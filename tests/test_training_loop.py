"""What is known of training loops: which calls are which events, through helpers, frameworks and spellings."""

from __future__ import annotations

import pytest

from tests.loops_told import events_of, in_a_loop, loops_in, ways_of

# -- events --------------------------------------------------------------------------------------------------------


def test_the_events_of_a_plain_loop_are_told_in_order_with_their_objects() -> None:
    loop = in_a_loop(
        """
        optimizer.zero_grad(set_to_none=True)
        output = model(batch)
        loss = criterion(output)
        loss.backward()
        norm = clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        ema.update(model)
        torch.distributed.all_reduce(loss)
        print(loss.item())
        torch.save(model.state_dict(), "last.pt")
        """
    )
    assert events_of(loop) == [
        "zero_grad optimizer",
        "forward batch",
        "loss output",
        "backward loss",
        "clip model.parameters()",
        "step optimizer",
        "schedule scheduler",
        "average ema",
        "reduce loss",
        "log loss.item()",
        'save "last.pt"',
    ]


@pytest.mark.parametrize(
    "scaler",
    ["torch.amp.GradScaler('cuda')", "torch.cuda.amp.GradScaler()", "GradScaler()", "amp.GradScaler()"],
)
def test_a_scaler_is_known_by_how_it_is_made(scaler: str) -> None:
    (loop,) = loops_in(
        f"""
        from torch import amp
        from torch.cuda.amp import GradScaler
        def train(model, optimizer, loader):
            s = {scaler}
            for batch in loader:
                s.scale(model(batch).mean()).backward()
                s.unscale_(optimizer)
                s.step(optimizer)
                s.update()
        """
    )
    assert [told for told in events_of(loop) if not told.startswith("forward")] == [
        "scale model(batch).mean() s",
        "backward model(batch).mean() s",
        "unscale_ optimizer s",
        "step optimizer s",
        "update s s",
    ]
    assert loop.is_scaled


@pytest.mark.parametrize(
    ("step", "told"),
    [
        pytest.param("accelerator.backward(loss)", "backward loss accelerator", id="Accelerate"),
        pytest.param("fabric.backward(loss)", "backward loss fabric", id="Fabric"),
        pytest.param("self.manual_backward(loss)", "backward loss lightning", id="Lightning, manual"),
        pytest.param("model_engine.backward(loss)", "backward loss model_engine", id="DeepSpeed"),
        pytest.param("optimizer.backward(loss)", "backward loss optimizer", id="fairseq"),
        pytest.param("loss.backward(retain_graph=True)", "backward loss", id="torch with an option"),
        pytest.param("loss.sum().backward()", "backward loss.sum()", id="of an expression"),
        pytest.param("torch.autograd.backward(loss)", "backward loss", id="as a function"),
        pytest.param("accelerator.clip_grad_norm_(p, 1.0)", "clip p accelerator", id="Accelerate clips"),
        pytest.param("fabric.clip_gradients(model, optimizer)", "clip model fabric", id="Fabric clips"),
        pytest.param("model.clip_grad_norm_(1.0)", "clip 1.0", id="FSDP clips"),
        pytest.param("accelerator.unscale_gradients()", "unscale_ accelerator", id="Accelerate unscales"),
        pytest.param("model_engine.step()", "step model_engine model_engine", id="DeepSpeed steps"),
        pytest.param("ema.update_parameters(model)", "average ema", id="AveragedModel"),
        pytest.param("update_ema(model)", "average model", id="an average by its name"),
        pytest.param("model.save_pretrained(path)", "save path", id="save_pretrained"),
        pytest.param("accelerator.save_state(path)", "save path", id="save_state"),
        pytest.param("p.grad.zero_()", "clear p.grad", id="a gradient zeroed by hand"),
        pytest.param("p.grad = None", "clear p.grad", id="a gradient set to None"),
        pytest.param("loss_scaler(loss, optimizer)", "opaque", id="a scaler of one's own"),
        pytest.param("finish(scaler)", "opaque", id="code of another file"),
    ],
)
def test_frameworks_and_other_spellings_are_events(step: str, told: str) -> None:
    loop = in_a_loop(f"loss.backward()\n{step}\noptimizer.step()")
    assert told in events_of(loop)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("env.step(action)", id="an environment"),
        pytest.param("noise_scheduler.step(noise, t, sample)", id="a diffusion process"),
        pytest.param("metrics.update(batch)", id="a metric"),
        pytest.param("isinstance(optimizer, torch.optim.Adam)", id="a question about the optimizer"),
        pytest.param("seen.append(batch)", id="a list"),
    ],
)
def test_what_only_looks_like_an_event_is_none(step: str) -> None:
    loop = in_a_loop(f"loss.backward()\n{step}\noptimizer.step()")
    assert [told for told in events_of(loop) if not told.startswith("log")] == ["backward loss", "step optimizer"]


def test_a_scaler_that_is_switched_off_is_none() -> None:
    (loop,) = loops_in(
        """
        def train(model, optimizer, loader):
            scaler = torch.amp.GradScaler("cuda", enabled=False)
            for batch in loader:
                scaler.scale(model(batch)).backward()
                optimizer.step()
        """
    )
    assert not loop.is_scaled


# -- where loops are -----------------------------------------------------------------------------------------------


def test_the_innermost_loop_with_a_backward_and_a_step_counts() -> None:
    (loop,) = loops_in(
        """
        def train(model, optimizer, loader):
            for epoch in range(3):
                for batch in loader:
                    optimizer.zero_grad()
                    for part in batch:
                        model(part).mean().backward()
                    optimizer.step()
                torch.save(model, "last.pt")
        """
    )
    assert ways_of(loop) == ["zero_grad backward step"]
    assert [event.kind.value for event in loop.around] == ["zero_grad", "forward", "backward", "step", "save"]


def test_a_function_without_a_loop_is_a_step_method() -> None:
    (loop,) = loops_in(
        """
        class Agent:
            def learn(self, batch):
                self.optimizer.zero_grad()
                self.net(batch).mean().backward()
                self.optimizer.step()
        """
    )
    assert loop.is_step_method
    assert ways_of(loop) == ["zero_grad backward step"]


def test_methods_and_functions_of_the_file_are_followed_and_not_looked_at_by_themselves() -> None:
    (loop,) = loops_in(
        """
        class Trainer:
            def fit(self, loader):
                for batch in loader:
                    self.optimizer.zero_grad()
                    self.step(batch)
            def step(self, batch):
                loss = self.model(batch).mean()
                loss.backward()
                finish(self.model, self.optimizer)
        def finish(net, opt):
            clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
        """
    )
    assert loop.function.qualname == "Trainer.fit"
    assert [told for told in events_of(loop) if "forward" not in told] == [
        "zero_grad self.optimizer",
        "backward loss",
        "clip self.model.parameters()",
        "step self.optimizer",
    ]


def test_a_closure_runs_where_it_is_handed_to_the_step() -> None:
    loop = in_a_loop(
        """
        def closure():
            optimizer.zero_grad()
            loss = model(batch).mean()
            loss.backward()
            return loss
        optimizer.step(closure)
        """
    )
    assert ways_of(loop) == ["zero_grad backward step"]


def test_the_module_itself_may_train() -> None:
    (loop,) = loops_in(
        """
        if __name__ == "__main__":
            for batch in loader:
                model(batch).backward()
                optimizer.step()
        """
    )
    assert loop.function.qualname == "<module>"


def test_functions_that_call_each_other_in_a_circle_are_survived() -> None:
    loops = loops_in(
        """
        def train(model, optimizer, loader):
            for batch in loader:
                model(batch).backward()
                optimizer.step()
                again(model, optimizer, loader)
        def again(model, optimizer, loader):
            train(model, optimizer, loader)
        """
    )
    assert [ways_of(loop) for loop in loops] == [["backward step"]]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def loss(x):\n    return x.backward()\n", id="no step"),
        pytest.param("def step(optimizer):\n    optimizer.step()\n", id="no backward"),
        pytest.param("class F(torch.autograd.Function):\n    def backward(ctx, g):\n        return g\n", id="autograd"),
        pytest.param("def test_train(m, optimizer):\n    m().backward()\n    optimizer.step()\n", id="a test"),
    ],
)
def test_what_does_not_train_is_no_loop(text: str) -> None:
    assert loops_in(text) == []


def test_a_file_that_says_so_is_distributed() -> None:
    body = "    for b in x:\n        m(b).backward()\n        optimizer.step()\n"
    (told,) = loops_in(f"def f(m, optimizer, x):\n    m = nn.parallel.DistributedDataParallel(m)\n{body}")
    (other,) = loops_in(f"def f(m, optimizer, x):\n{body}")
    assert told.is_distributed()
    assert not other.is_distributed()
