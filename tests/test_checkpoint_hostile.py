"""A file that means harm does none: nothing is run, nothing is imported, memory and time stay small."""

from __future__ import annotations

import io
import os
import pickle
import pickletools
import struct
import sys
import tracemalloc
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from nanlint.checkpoint.diagnosis import BAD, UNREADABLE  # noqa: E402 - after the skip
from nanlint.checkpoint.imports import is_dangerous  # noqa: E402
from nanlint.checkpoint.pickles import read_pickle  # noqa: E402
from nanlint.checkpoint.reading import UnreadableCheckpoint  # noqa: E402
from nanlint.checkpoint.rebuild import BUILDERS  # noqa: E402
from nanlint.checkpoint.region import Region  # noqa: E402
from nanlint.checkpoint.saved import Opaque  # noqa: E402
from nanlint.checkpoint.walk import walk  # noqa: E402
from nanlint.cli.main import main  # noqa: E402
from tests.checkpoints import diagnosis, saved  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LITTLE = 50_000_000
"""Bytes of memory that no small file may pass."""


def unpickled(data: bytes) -> Any:
    return read_pickle(Region(memoryview(data)), 0, BUILDERS)[0]


class Runs:
    """Unpickled for real, it runs a command."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, (self.command,)


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "before 1.6"])
def test_a_command_in_a_checkpoint_is_not_run(tmp_path: Path, zipped: bool) -> None:  # noqa: FBT001 - a parameter of the test
    trace = tmp_path / "trace"
    path = saved(tmp_path, {"w": torch.ones(2), "x": Runs(f"touch {trace}")}, zipped=zipped)
    found = diagnosis(path)
    assert (found.verdict, found.tensors, trace.exists()) == (BAD, 1, False)
    assert [symptom.name for symptom in found.errors] == [f"{os.system.__module__}.system"]
    torch.load(path, weights_only=False)
    assert trace.exists(), "for real it does"


def test_a_command_in_a_plain_pickle_is_an_object_like_any_other() -> None:
    made = unpickled(pickle.dumps(Runs("false")))
    assert isinstance(made, Opaque)
    assert (made.name, made.arguments) == (f"{os.system.__module__}.system", ("false",))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"cantigravity\ngeohash\n.", id="GLOBAL"),
        pytest.param(b"\x80\x04\x8c\x0bantigravity\x8c\x07geohash\x93.", id="STACK_GLOBAL"),
        pytest.param(b"(iantigravity\ngeohash\n.", id="INST"),
        pytest.param(b"(cantigravity\ngeohash\no.", id="OBJ"),
        pytest.param(b"cantigravity\ngeohash\n)\x81.", id="NEWOBJ"),
        pytest.param(b"\x80\x04cantigravity\ngeohash\n)}\x92.", id="NEWOBJ_EX"),
        pytest.param(b"cantigravity\ngeohash\n)R}b.", id="BUILD"),
        pytest.param(b"\x82\x01.", id="EXT1"),
    ],
)
def test_no_opcode_imports_anything(data: bytes) -> None:
    unpickled(data)
    assert "antigravity" not in sys.modules


def test_every_opcode_of_the_protocol_is_known_or_refused() -> None:
    from nanlint.checkpoint.pickle_machine import PUSHED, STEPS  # noqa: PLC0415 - the table that is tested

    known = STEPS.keys() | PUSHED
    assert {opcode.name for opcode in pickletools.opcodes} - known == {"NEXT_BUFFER", "READONLY_BUFFER"}


def peak(action: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# A tuple of a tuple twice, 200 times over: 2**200 paths in a few bytes.
TOWER = b")" + b"2\x86" * 200


def test_a_tower_of_references_is_walked_in_its_own_size() -> None:
    tree = unpickled(b"\x80\x04" + TOWER + b".")
    assert sum(1 for _ in walk(tree)) < 1000


def test_a_tower_of_references_as_a_key_is_not_hashed() -> None:
    made = unpickled(b"\x80\x04}" + TOWER + b"Ns.")
    assert [type(key) for key in made] == [Opaque]


def test_a_list_in_itself_is_walked_once() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert sum(1 for _ in walk(unpickled(pickle.dumps(endless)))) == 1


def test_a_very_deep_tree_is_walked_and_let_go() -> None:
    assert sum(1 for _ in walk(unpickled(b"\x80\x04" + b"]" * 100_000 + b"a" * 99_999 + b"."))) < 100


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x80\x02Nr\xff\xff\xff\xff.", id="a memo of four billion places"),
        pytest.param(b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + b"x.", id="a string of a terabyte"),
        pytest.param(b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b"x.", id="a bytearray of a terabyte"),
        pytest.param(b"\x80\x04\x95" + struct.pack("<Q", 1 << 60) + b"N.", id="a frame of an exabyte"),
        pytest.param(b"\x80\x02\x8b" + struct.pack("<i", 2**31 - 1) + b"1.", id="a number of two billion bytes"),
    ],
)
def test_a_size_that_the_file_only_claims_costs_nothing(data: bytes) -> None:
    def read() -> None:
        try:
            unpickled(data)
        except UnreadableCheckpoint:
            return

    assert peak(read) < LITTLE


def test_a_pickle_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nanlint.checkpoint.reading.MOST_OPERATIONS", 1000)
    with pytest.raises(UnreadableCheckpoint, match="more than 1,000 operations"):
        unpickled(b"\x80\x04" + b"N0" * 1000 + b"N.")


def bomb(folder: Path, name: str, size: int) -> Path:
    path = folder / "bomb.pt"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w", force_zip64=True) as member,
    ):
        for _ in range(size // (1 << 20)):
            member.write(bytes(1 << 20))
    return path


@pytest.mark.slow
def test_a_compressed_checkpoint_is_refused_and_not_unpacked(tmp_path: Path) -> None:
    path = bomb(tmp_path, "archive/data.pkl", 200 << 20)
    assert path.stat().st_size < 1 << 20
    assert peak(lambda: diagnosis(path)) < LITTLE
    assert "compressed member archive/data.pkl" in str(diagnosis(path).failures[0][1])


def test_a_directory_that_points_outside_of_the_file_is_told(tmp_path: Path) -> None:
    path = saved(tmp_path, {"w": torch.ones(3)})
    data = path.read_bytes()
    entry = data.index(b"PK\x01\x02")
    path.write_bytes(data[: entry + 42] + struct.pack("<I", 1 << 30) + data[entry + 46 :])
    assert diagnosis(path).verdict == UNREADABLE


@pytest.mark.parametrize("seed", range(40))
def test_damage_anywhere_is_survived(tmp_path: Path, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    path = saved(tmp_path, {"w": torch.ones(8), "s": {"a": [1, 2.5]}, "o": Runs("true")}, zipped=seed % 2 == 0)
    data = bytearray(path.read_bytes())
    for _ in range(12):
        place, value = (int(torch.randint(bound, (), generator=generator)) for bound in (len(data), 256))
        data[place] = value
    path.write_bytes(data)
    assert diagnosis(path).verdict in {"clean", "bad", "unreadable"}


def test_a_name_cannot_drive_the_terminal(tmp_path: Path) -> None:
    from nanlint.cli import checkpoint  # noqa: PLC0415 - for this test only
    from nanlint.cli.main import parser  # noqa: PLC0415 - as above

    path = saved(tmp_path, {"w\x1b[2J": torch.tensor([float("nan")])})
    out = io.StringIO()
    checkpoint.run(parser("checkpoint").parse_args(["checkpoint", str(path)]), out, io.StringIO())
    assert "\x1b" not in out.getvalue()
    assert "w\\x1b[2J" in out.getvalue()


DANGEROUS = [
    b"cos\nsystem\n(S'true'\ntR.",
    b"\x80\x02cposix\nsystem\nX\x04\x00\x00\x00true\x85R.",
    b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R.",
    b"\x80\x04\x8c\x0asubprocess\x8c\x05Popen\x93\x8c\x01a\x85R.",
    b"\x80\x02(S'true'\nios\nsystem\n.",
    b"\x80\x02crunpy\n_run_code\n.",
    b"\x80\x02ctorch.hub\nload\n.",
    b"\x80\x02cimportlib.util\nspec_from_file_location\n.",
    b"\x80\x02cos\nsystem\n.\x80\x02",
    b"\x80\x02cos\nsystem\ngarbage",
]


@pytest.mark.parametrize("data", DANGEROUS, ids=range(len(DANGEROUS)))
def test_a_dangerous_import_is_named_and_fails_the_run(
    tmp_path: Path, data: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.pkl"
    path.write_bytes(data if data[:1] == b"\x80" else b"\x80\x02" + data)
    assert main(["checkpoint", str(path)]) == 1
    assert "can run commands with it; nanlint has not loaded it" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    [
        "os:system", "posix:system", "nt:system", "subprocess:Popen", "sys:modules", "commands:getoutput", "shutil:rmtree", "pty:spawn",
        "builtins:eval", "builtins:exec", "builtins:compile", "builtins:getattr", "builtins:open", "builtins:breakpoint", "builtins:__import__",
        "__builtin__:apply", "__builtin__:eval", "cloudpickle.cloudpickle:_make_function", "cloudpickle.cloudpickle:subimport", "types:CodeType",
        "aiohttp:client", "asyncio:run", "bdb:Bdb", "ctypes:CDLL", "httplib:HTTPSConnection", "logging:FileHandler", "_io:FileIO",
        "numpy.f2py.crackfortran:getlincoef", "numpy.testing._private.utils:runstring", "operator:attrgetter", "operator:itemgetter",
        "_operator:methodcaller", "requests.api:get", "runpy:_run_code", "socket:create_connection", "ssl:get_server_certificate",
        "code:InteractiveInterpreter.runcode", "cProfile:run", "distutils.file_util:write_file", "doctest:debug_script", "ensurepip:_run_pip",
        "idlelib.pyshell:ModifiedInterpreter.runcode", "imaplib:IMAP4_stream", "lib2to3.pgen2.grammar:Grammar.loads", "pdb:run", "pickle:loads",
        "_pickle:loads", "pip:main", "pkgutil:resolve_name", "profile:run", "pydoc:locate", "test.support.script_helper:assert_python_ok",
        "timeit:timeit", "torch._dynamo.guards:GuardBuilder.get", "torch._inductor.codecache:compile_file",
        "torch.fx.experimental.symbolic_shapes:ShapeEnv.evaluate_guards_expression", "torch.jit.unsupported_tensor_ops:execWrapper",
        "torch.serialization:load", "torch.utils._config_module:ConfigModule.load_config", "torch.utils.bottleneck.__main__:run_cprofile",
        "torch.utils.collect_env:run", "torch.utils.data.datapipes.utils.decoder:basichandlers", "trace:Trace.run", "urllib.request:urlopen",
        "uuid:_get_command_stdout", "venv:create", "webbrowser:open", "_osx_support:_read_output", "_aix_support:_read_cmd_output",
        "_pyrepl.pager:pipe_pager", "torch:serialization.os.system", "torch.nn:Module.__init__.__globals__", "some.module:f.__globals__.get",
    ],
)  # fmt: skip
def test_what_picklescan_knows_is_dangerous(name: str) -> None:
    assert is_dangerous(*name.split(":"))


@pytest.mark.parametrize(
    "name",
    [
        "collections.OrderedDict",
        "torch._utils._rebuild_tensor_v2",
        "pathlib.PosixPath",
        "mylib.os.Thing",
        "osmium.read",
        "io.BytesIO",
        "uuid.UUID",
    ],
)
def test_what_makes_data_only_is_not_called_dangerous(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    assert not is_dangerous(module, attribute)


def test_a_name_that_would_take_years_to_write_is_refused_at_once() -> None:
    with pytest.raises(UnreadableCheckpoint, match="it names something by what is no text"):
        unpickled(b"\x80\x04\x8c\x01a)" + b"2\x86" * 40 + b"\x93.")
