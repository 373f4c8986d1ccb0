"""What a pickle would import is told by name, wherever it is hidden; nothing of it is imported."""

from __future__ import annotations

import io
import json
import pickle
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from nanlint.checkpoint.diagnosis import BAD, CLEAN  # noqa: E402 - after the skip
from nanlint.checkpoint.imports import COMPUTED, is_dangerous, is_known  # noqa: E402
from nanlint.cli.main import main  # noqa: E402
from tests.checkpoints import diagnosis, saved, told  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

CALL = b"\x80\x02cos\nsystem\nX\x05\x00\x00\x00false\x85R."
"""A pickle that runs `false` when it is loaded."""


def written(folder: Path, data: bytes, name: str = "x.pkl") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def named(folder: Path, data: bytes, name: str = "x.pkl") -> list[str]:
    """The dangerous imports that are told of a file."""
    found = diagnosis(written(folder, data, name))
    return [each.name for each in found.symptoms if each.kind == "dangerous-import"]


@pytest.mark.parametrize(
    "name",
    [
        "os.system", "posix.system", "nt.system", "subprocess.Popen", "subprocess.check_output", "sys.modules",
        "builtins.eval", "builtins.exec", "builtins.getattr", "builtins.__import__", "builtins.open", "builtins.compile",
        "__builtin__.eval", "__builtin__.apply", "runpy.run_path", "runpy._run_code", "pty.spawn", "socket.create_connection",
        "webbrowser.open", "shutil.rmtree", "importlib.import_module", "pickle.loads", "_pickle.loads", "dill.loads",
        "torch.hub.load", "torch.load", "torch.serialization.load", "torch.jit.unsupported_tensor_ops.execWrapper",
        "torch._inductor.codecache.compile_file", "operator.attrgetter", "operator.methodcaller", "asyncio.run",
        "numpy.testing._private.utils.runstring", "numpy.f2py.crackfortran.getlincoef", "pydoc.locate", "timeit.timeit",
        "code.InteractiveInterpreter.runcode", "ctypes.CDLL", "urllib.request.urlopen", "marshal.loads", "types.FunctionType",
        "torch.serialization.os.system", "torch.nn.modules.module.sys.modules", "some.module.__globals__",
        "builtins.object.__subclasses__", COMPUTED,
    ],
)  # fmt: skip
def test_what_can_do_harm_is_dangerous(name: str) -> None:
    assert is_dangerous(name)


@pytest.mark.parametrize(
    "name",
    [
        "torch._utils._rebuild_tensor_v2", "torch.FloatStorage", "torch.storage.UntypedStorage", "torch.float32",
        "torch.bfloat16", "torch.device", "torch.Size", "torch.nn.modules.linear.Linear", "torch.optim.adamw.AdamW",
        "torch.jit._pickle.build_intlist", "torch.distributed.checkpoint.metadata.Metadata", "__torch__.model.Net",
        "collections.OrderedDict", "collections.defaultdict", "argparse.Namespace", "pathlib.PosixPath", "datetime.datetime",
        "numpy.core.multiarray._reconstruct", "numpy._core.multiarray.scalar", "numpy.dtype", "numpy.ndarray",
        "builtins.set", "builtins.complex", "_codecs.encode", "copyreg._reconstructor", "types.SimpleNamespace",
    ],
)  # fmt: skip
def test_what_checkpoints_are_made_of_is_harmless(name: str) -> None:
    assert (is_dangerous(name), is_known(name)) == (False, True)


@pytest.mark.parametrize(
    "name", ["__main__.Config", "test.Config", "code.Tokens", "functools.partial", "transformers.X"]
)
def test_what_nobody_knows_is_neither(name: str) -> None:
    assert (is_dangerous(name), is_known(name)) == (False, False)


@pytest.mark.parametrize(
    ("data", "names"),
    [
        pytest.param(CALL, ["os.system"], id="GLOBAL"),
        pytest.param(b"\x80\x02(S'false'\nios\nsystem\n.", ["os.system"], id="INST"),
        pytest.param(b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x05false\x85R.", ["os.system"], id="STACK_GLOBAL"),
        pytest.param(
            b"\x80\x04\x8c\x02os\x94\x8c\x06system\x940h\x00h\x01\x930.", ["os.system"], id="STACK_GLOBAL from the memo"
        ),
        pytest.param(
            b"\x80\x04cm\nf\n)R\x8c\x06system\x93.", ["import"], id="STACK_GLOBAL with a computed module"
        ),
        pytest.param(
            b"\x80\x04\x8c\x05torch\x8c\x17serialization.os.system\x93.", ["torch.serialization.os.system"], id="through torch"
        ),
        pytest.param(CALL[:-4], ["os.system"], id="truncated behind it"),
        pytest.param(b"\x80\x02cos\nsystem\n}}\x93x", ["os.system", "import"], id="damaged behind it"),
    ],
)  # fmt: skip
def test_an_import_is_named_however_it_is_written(tmp_path: Path, data: bytes, names: list[str]) -> None:
    assert named(tmp_path, data) == names


def zip_with(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


def test_a_second_pickle_in_a_torch_file_is_read_too(tmp_path: Path) -> None:
    data = zip_with({"m/data.pkl": pickle.dumps({}, 2), "m/constants.pkl": CALL, "m/version": b"3"})
    assert named(tmp_path, data, "m.pt") == ["os.system"]


def test_a_file_of_torch_inside_a_plain_pickle_is_read_too(tmp_path: Path) -> None:
    inner = zip_with({"m/data.pkl": CALL})
    outer = b"\x80\x03ctorch.storage\n_load_from_bytes\nB" + len(inner).to_bytes(4, "little") + inner + b"\x85R."
    assert named(tmp_path, outer) == ["os.system"]


def test_a_tar_file_is_refused_and_its_imports_are_told(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "old.tar", "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in {"sys_info": pickle.dumps({}, 2), "pickle": pickle.dumps(1, 2) + CALL}.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    found = diagnosis(tmp_path / "old.tar")
    assert (found.verdict, told(found), len(found.failures)) == (BAD, [("dangerous-import", "os.system")], 1)


def test_an_array_of_objects_is_refused_and_its_imports_are_told(tmp_path: Path) -> None:
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n"
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + CALL
    assert named(tmp_path, data, "x.npy") == ["os.system"]


def test_a_class_of_ones_own_is_a_note(tmp_path: Path) -> None:
    path = written(tmp_path, b"\x80\x02}X\x01\x00\x00\x00ac__main__\nConfig\n)\x81s.")
    found = diagnosis(path)
    assert (found.verdict, told(found)) == (CLEAN, [("unknown-import", "imports")])
    assert "__main__.Config" in found.symptoms[0].message


def test_an_ordinary_checkpoint_has_nothing_to_tell(tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 2)
    state = {
        "model": model.state_dict(),
        "whole": model,
        "optimizer": torch.optim.AdamW(model.parameters()).state_dict(),
    }
    assert [kind for kind, _ in told(diagnosis(saved(tmp_path, state))) if "import" in kind] == []


def test_the_command_names_it_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, CALL)
    assert main(["checkpoint", str(path)]) == 1
    text = capsys.readouterr().out
    assert "x.pkl: bad" in text
    assert "error    os.system: loading this file would import and could call os.system" in text
    assert main(["checkpoint", "--json", str(path)]) == 1
    (symptom,) = json.loads(capsys.readouterr().out)["checkpoints"][0]["symptoms"]
    assert (symptom["level"], symptom["kind"], symptom["name"]) == ("error", "dangerous-import", "os.system")
