"""The log of a run, and `nanlint plot`, which draws it and any other log that has a loss."""

from __future__ import annotations

import io
import json
import math
import struct
import sys
import xml.etree.ElementTree as ET
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

import pytest

from nanlint.cli.main import main
from nanlint.plot.read_log import read_curves

if TYPE_CHECKING:
    from pathlib import Path


def plot(*words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["plot", *words])
    return code, out.getvalue(), err.getvalue()


class TestPlot:
    def test_a_users_own_log_is_drawn(self, tmp_path: Path) -> None:
        log = tmp_path / "own.jsonl"
        log.write_text(
            "".join(json.dumps({"iter": n, "loss": 1 / n, "note": "x"}) + "\n" for n in range(1, 9)), "utf-8"
        )
        assert plot(str(log)) == (0, f"{tmp_path / 'own.svg'}: loss\n", "")
        picture = ET.parse(tmp_path / "own.svg").getroot()  # noqa: S314 - same
        (line,) = picture.iter("{http://www.w3.org/2000/svg}polyline")
        assert len(line.attrib["points"].split()) == 8

    def test_what_is_not_finite_is_marked(self, tmp_path: Path) -> None:
        log = tmp_path / "bad.jsonl"
        log.write_text('{"step": 1, "loss": 1.0}\n{"step": 2, "loss": NaN}\n{"step": 3, "loss": "Infinity"}\n', "utf-8")
        assert plot(str(log))[0] == 0
        assert "nan at step 2" in (tmp_path / "bad.svg").read_text("utf-8")

    def test_curves_can_be_chosen(self, tmp_path: Path) -> None:
        log = tmp_path / "run.jsonl"
        log.write_text('{"loss": 1.0, "lr": 0.1, "scalars": {"alpha": 2}}\n', "utf-8")
        assert plot(str(log), "--curves", "scalars.alpha,loss")[1].endswith(": scalars.alpha, loss\n")
        assert plot(str(log), "--curves", "los")[2].endswith("has no curve los; did you mean loss?\n")

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("loss: 1\n", "log.jsonl:1: this line is no JSON; plot reads one object per line"),
            ("[1]\n", "log.jsonl:1: this line is no JSON object; plot reads one object per line"),
            ('{"step": 1}\n', 'no line has a "loss"'),
            ("", 'no line has a "loss"'),
            ("[" * 100_000 + "\n", "log.jsonl:1: this line is no JSON"),
        ],
        ids=["text", "a list", "no loss", "empty", "deep"],
    )
    def test_what_is_no_log_is_an_error(self, text: str, complaint: str, tmp_path: Path) -> None:
        log = tmp_path / "log.jsonl"
        log.write_text(text, "utf-8")
        code, _, err = plot(str(log))
        assert (code, complaint in err) == (2, True), err

    def test_a_log_that_is_not_there_is_an_error(self, tmp_path: Path) -> None:
        assert plot(str(tmp_path / "gone.jsonl"))[0] == 2

    def test_a_png_has_the_size_of_a_screen_and_words(self, tmp_path: Path) -> None:
        pytest.importorskip("resvg_py", reason="resvg is not installed")
        drawn = []
        for name in ("one", "two"):
            (log := tmp_path / "run.jsonl").write_text(f'{{"loss": 1.0, "{name}": 2}}\n{{"loss": NaN}}\n', "utf-8")
            assert plot(str(log), "-o", str(tmp_path / "run.png"))[1] == f"{tmp_path / 'run.png'}: loss, {name}\n"
            drawn.append((tmp_path / "run.png").read_bytes())
        assert struct.unpack(">8s8x2I", drawn[0][:24]) == (b"\x89PNG\r\n\x1a\n", 1440, 872)
        assert drawn[0] != drawn[1], "the names of the curves, and nothing else, tell the two apart"

    def test_a_png_without_what_draws_it_says_what_to_install(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "resvg_py", None)
        (log := tmp_path / "run.jsonl").write_text('{"loss": 1.0}\n', "utf-8")
        code, _, err = plot(str(log), "-o", str(tmp_path / "run.png"))
        assert (code, "pip install 'nanlint[png]', or draw SVG" in err) == (2, True), err

    def test_names_in_a_log_are_no_markup(self, tmp_path: Path) -> None:
        log = tmp_path / "run.jsonl"
        log.write_text('{"loss": 1, "<script>": 2}\n', "utf-8")
        plot(str(log))
        assert "<script>" not in (tmp_path / "run.svg").read_text("utf-8")


@pytest.mark.slow
class TestLog:
    def entries(self, log: Path) -> list[dict[str, Any]]:
        return [json.loads(line) for line in log.read_text("utf-8").splitlines()]

    def test_a_traced_run_writes_a_line_for_every_step(self, tmp_path: Path) -> None:
        pytest.importorskip("torch", reason="torch is not installed, so no script can be traced")
        from tests.tracing import SCRIPTS, trace  # noqa: PLC0415 - it imports torch

        log = tmp_path / "run.jsonl"
        trace(tmp_path, "--log", str(log), str(SCRIPTS / "bad" / "root_slope.py"))
        head, *steps = self.entries(log)
        assert (head["schema"], [entry["step"] for entry in steps]) == (1, list(range(1, len(steps) + 1)))
        assert set(steps[0]) == {"step", "loss", "gradient_norm", "learning_rate", "ratios"}
        last = read_curves(log.read_text("utf-8").splitlines(), "run.jsonl")["gradient_norm"][-1]
        assert (last[0], math.isfinite(last[1])) == (len(steps), False)

    def test_a_watch_logs_scalars_and_skipped_steps(self, tmp_path: Path) -> None:
        torch = pytest.importorskip("torch", reason="torch is not installed, so nothing can be watched")
        import nanlint.trace as nt  # noqa: PLC0415 - it imports torch

        model, alpha = torch.nn.Linear(2, 1), torch.zeros(1)
        optimizer, log = torch.optim.SGD(model.parameters(), lr=0.1), tmp_path / "run.jsonl"
        scalars = {"alpha": alpha, "twice": lambda: 2 * float(alpha)}
        options: dict[str, Any] = {"tell": lambda _: None, "folder": str(tmp_path), "log": str(log), "scalars": scalars}
        with nt.watch(model, optimizer, on_nonfinite="skip", **options):
            for number in range(3):
                alpha.fill_(number)
                model(torch.full((1, 2), float("nan") if number == 1 else 1.0)).sum().backward()
                optimizer.step()
        _, *steps = self.entries(log)
        assert [entry["scalars"] for entry in steps] == [{"alpha": float(n), "twice": 2.0 * n} for n in range(3)]
        assert [entry.get("skipped", False) for entry in steps] == [False, True, False]

    def test_a_scalar_is_one_number(self) -> None:
        torch = pytest.importorskip("torch", reason="torch is not installed, so nothing can be watched")
        import nanlint.trace as nt  # noqa: PLC0415 - it imports torch
        from nanlint.errors import UsageError  # noqa: PLC0415 - beside it

        with pytest.raises(UsageError, match=r"scalars\['gate'\] is a tensor of shape \(3,\), not one number"):
            nt.watch(torch.nn.Linear(1, 1), scalars={"gate": torch.ones(3)})
