"""Every format and every kind of tensor is read as torch reads it, and nothing of the file is run."""

from __future__ import annotations

import argparse
import io
import pickle
import struct
import tarfile
from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
np = pytest.importorskip("numpy", reason="numpy is not installed")

from nanlint.checkpoint.contents import Contents, sort_out  # noqa: E402 - after the skip
from nanlint.checkpoint.diagnosis import BAD, CLEAN, UNREADABLE  # noqa: E402
from nanlint.checkpoint.read import read_file  # noqa: E402
from nanlint.checkpoint.reading import Reading, UnreadableCheckpoint  # noqa: E402
from nanlint.checkpoint.statistics import can_be_scanned, scan  # noqa: E402
from tests.checkpoints import Run, diagnosis, saved, told, write_safetensors  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from nanlint.checkpoint.saved import SavedTensor
    from nanlint.checkpoint.statistics import Statistics

NAN, INF = float("nan"), float("inf")
VALUES = [1.5, -2.0, NAN, INF, -INF, 0.0, NAN, 0.25]

# torch warns that quantized and sparse tensors, typed storages and TorchScript are old or new.
pytestmark = pytest.mark.filterwarnings("ignore")


def tensors(path: Path) -> dict[str, SavedTensor]:
    """The tensors of a file by name."""
    contents = Contents()
    sort_out(read_file(path, contents.reading), "", contents)
    return {entry.name: entry.tensor for entry in contents.entries}


def looked_at(tensor: SavedTensor) -> Statistics:
    assert can_be_scanned(tensor)
    return scan(tensor, Reading(size=tensor.bytes), lambda _: None)


def counts(found: Statistics) -> tuple[int, int, int, int, float, float]:
    return found.items, found.nans, found.positive_infs, found.negative_infs, found.low, found.high


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "before 1.6"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_values_of_every_float_are_counted(tmp_path: Path, dtype: Any, zipped: bool) -> None:  # noqa: FBT001 - a parameter of the test
    path = saved(tmp_path, {"x": torch.tensor(VALUES, dtype=dtype)}, zipped=zipped)
    assert counts(looked_at(tensors(path)["x"])) == (8, 2, 1, 1, -2.0, 1.5)


@pytest.mark.parametrize("dtype", [torch.float8_e5m2, torch.float8_e4m3fn, torch.float8_e5m2fnuz], ids=str)
def test_nan_of_an_eight_bit_float_is_counted(tmp_path: Path, dtype: Any) -> None:
    path = saved(tmp_path, {"x": torch.tensor([1.5, NAN, -2.0]).to(dtype)})
    assert counts(looked_at(tensors(path)["x"])) == (3, 1, 0, 0, -2.0, 1.5)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_both_parts_of_a_complex_number_are_looked_at(tmp_path: Path, dtype: Any) -> None:
    values = torch.tensor([[1 + 2j, complex(0, NAN)], [complex(INF, 1), 3 + 0j]], dtype=dtype)
    path = saved(tmp_path, {"x": values, "t": values.t()[:, :1]})
    assert counts(looked_at(tensors(path)["x"])) == (8, 1, 1, 0, 0.0, 3.0)
    assert counts(looked_at(tensors(path)["t"]))[1:4] == (1, 0, 0)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.uint8, torch.bool], ids=str)
def test_integers_are_listed_and_not_looked_at(tmp_path: Path, dtype: Any) -> None:
    tensor = tensors(saved(tmp_path, {"x": torch.ones(3, dtype=dtype)}))["x"]
    assert (f"torch.{tensor.dtype}", tensor.shape, can_be_scanned(tensor)) == (str(dtype), (3,), False)


def views() -> dict[str, Any]:
    base = torch.arange(120.0).reshape(2, 3, 4, 5)
    base[1, 2, 3, 4] = NAN
    base[0, 0, 0, 1] = INF
    return {
        "transposed": base.transpose(0, 3),
        "slice": base[:, 1:, ::2, 1],
        "one row": base[1, 2, 3],
        "a corner": base[..., 2:, 2:],
        "expanded": base[0, 0, :1, :2].expand(7, 2),
        "one value": base[1, 2, 3, 4],
        "windows": base.reshape(-1).unfold(0, 4, 2),
        "nothing": base[:0],
        "whole": base,
    }


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "before 1.6"])
@pytest.mark.parametrize("name", list(views()))
def test_of_a_view_exactly_its_values_count(tmp_path: Path, name: str, zipped: bool) -> None:  # noqa: FBT001 - a parameter of the test
    view = views()[name]
    found = looked_at(tensors(saved(tmp_path, {"x": view}, zipped=zipped))["x"])
    # A value that a view shows several times is one value.
    expected = view[:1] if name == "expanded" else views()["whole"] if name == "windows" else view
    finite = expected[torch.isfinite(expected)]
    bounds = (finite.min().item(), finite.max().item()) if finite.numel() else (INF, -INF)
    assert counts(found) == (
        expected.numel(),
        int(expected.isnan().sum()),
        int((expected == INF).sum()),
        int((expected == -INF).sum()),
        *bounds,
    )


def test_a_view_with_gaps_that_is_larger_than_a_chunk_is_read_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nanlint.checkpoint.statistics.CHUNK", 400)
    base = torch.arange(6000.0).reshape(20, 30, 10)
    base[19, 29, 8] = NAN
    for name, view in {
        "gaps": base[:, :, ::2],
        "rows": base[::3, 5:, 1:],
        "whole": base,
        "turned": base.permute(2, 0, 1),
    }.items():
        found = looked_at(tensors(saved(tmp_path, view, name=f"{name}.pt"))["the tensor"])
        assert (found.items, found.nans) == (view.numel(), int(view.isnan().sum()))


def test_values_with_two_names_are_told_once(tmp_path: Path) -> None:
    weight = torch.full((3, 2), NAN)
    path = saved(tmp_path, OrderedDict({"embed.weight": weight, "head.weight": weight, "part": weight[:1]}))
    assert told(diagnosis(path)) == [("nan", "embed.weight"), ("nan", "part")]


@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_the_values_of_a_sparse_tensor_are_looked_at(tmp_path: Path, layout: str) -> None:
    dense = torch.tensor([[0.0, NAN], [3.0, 0.0]])
    sparse = dense.to_sparse() if layout == "coo" else dense.to_sparse_csr()
    assert counts(looked_at(tensors(saved(tmp_path, {"x": sparse}))["x"])) == (2, 1, 0, 0, 3.0, 3.0)


def test_a_quantized_tensor_is_integers_and_its_scale(tmp_path: Path) -> None:
    quantized = torch.quantize_per_tensor(torch.tensor([1.0, 2.0]), 0.1, 3, torch.qint8)
    found = tensors(saved(tmp_path, {"x": quantized}))
    assert {name: tensor.dtype for name, tensor in found.items()} == {"x.values": "qint8"}


def test_a_meta_tensor_has_no_values(tmp_path: Path) -> None:
    tensor = tensors(saved(tmp_path, {"x": torch.empty(3, 2, device="meta")}))["x"]
    assert (tensor.dtype, tensor.shape, can_be_scanned(tensor)) == ("float32", (3, 2), False)


def test_a_plain_tensor_is_a_checkpoint(tmp_path: Path) -> None:
    assert told(diagnosis(saved(tmp_path, torch.tensor([1.0, NAN])))) == [("nan", "the tensor")]


def test_a_parameter_and_a_subclass_are_tensors(tmp_path: Path) -> None:
    state = {"p": torch.nn.Parameter(torch.tensor([NAN])), "b": torch.nn.Buffer(torch.tensor([INF]))}
    assert told(diagnosis(saved(tmp_path, state))) == [("nan", "p"), ("inf", "b")]


class Own:
    """A class that only the writer of a checkpoint has."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Slotted:
    __slots__ = ("weight",)

    def __init__(self, weight: Any) -> None:
        self.weight = weight


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "before 1.6"])
def test_objects_are_no_obstacle_and_are_looked_into(
    tmp_path: Path,
    zipped: bool,  # noqa: FBT001 - a parameter of the test
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bad = torch.tensor([NAN])
    state = {
        "args": argparse.Namespace(lr=1e-3, init=bad),
        "own": Own(Own(bad + 1)),
        "slots": Slotted(bad * 2),
        "history": deque([bad - 1]),
        "set": {1, 2},
        "complex": 1j,
    }
    path = saved(tmp_path, state, zipped=zipped)
    monkeypatch.delattr(f"{__name__}.Own")
    names = [name for _, name in told(diagnosis(path))]
    assert names == [
        "args.init",
        "own.value.value",
        "slots.weight",
        "history.0.0" if "history.0.0" in names else "history.0",
    ]


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "before 1.6"])
def test_a_whole_module_has_the_names_of_its_state(tmp_path: Path, zipped: bool) -> None:  # noqa: FBT001 - a parameter of the test
    model = Run().model
    found = tensors(saved(tmp_path, model, zipped=zipped))
    assert set(found) == set(model.state_dict())


def test_a_torchscript_file_is_read(tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 2)
    with torch.no_grad():
        model.weight[0, 0] = NAN
    torch.jit.script(model).save(tmp_path / "script.pt")
    assert told(diagnosis(tmp_path / "script.pt")) == [("nan", "weight")]


def test_numpy_in_a_checkpoint_is_read(tmp_path: Path) -> None:
    state = {
        "array": np.array([[1.0, NAN]]),
        "fortran": np.asfortranarray(np.array([[1.0, 2.0], [INF, 4.0]], dtype=np.float32)),
        "other order": np.array([1.0, -INF], dtype=">f4"),
        "scalar": np.float32(2.5),
        "integers": np.arange(3),
        "texts": np.array(["a", "b"]),
    }
    found = diagnosis(saved(tmp_path, state))
    assert (told(found), found.failures) == ([("nan", "array"), ("inf", "fortran"), ("inf", "other order")], ())


@pytest.mark.parametrize("small", [0, 1 << 20], ids=["as a large one", "as a small one"])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_plain_pickle_is_read(tmp_path: Path, protocol: int, small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nanlint.checkpoint.region.SMALL_PICKLE", small)
    path = tmp_path / "state.pkl"
    state = {"w": torch.tensor([1.0, NAN]), "a": np.array([INF, 2.0]), "long": np.zeros(70_000)}
    path.write_bytes(pickle.dumps(state, protocol=protocol))
    found = diagnosis(path)
    assert (found.verdict, told(found), found.failures) == (BAD, [("nan", "w"), ("inf", "a")], ())


def test_safetensors_are_read(tmp_path: Path) -> None:
    state = {"a": torch.tensor(VALUES), "b": torch.ones(2, 2).half(), "c": torch.arange(3), "d": torch.zeros(0)}
    path = write_safetensors(tmp_path / "model.safetensors", state)
    assert counts(looked_at(tensors(path)["a"])) == (8, 2, 1, 1, -2.0, 1.5)
    assert {name: tensor.shape for name, tensor in tensors(path).items()} == {
        "a": (8,),
        "b": (2, 2),
        "c": (3,),
        "d": (0,),
    }


def test_a_dtype_that_nobody_knows_is_listed(tmp_path: Path) -> None:
    path = write_safetensors(tmp_path / "model.safetensors", {"a": torch.ones(4)})
    path.write_bytes(path.read_bytes().replace(b'"F32"', b'"F4X"'))
    assert (tensors(path)["a"].dtype, diagnosis(path).verdict) == ("F4X", CLEAN)


def test_shards_are_one_checkpoint(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "model-00001-of-00002.safetensors", {"a": torch.tensor([1.0])})
    write_safetensors(tmp_path / "model-00002-of-00002.safetensors", {"b": torch.tensor([NAN])})
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(
        '{"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}'
    )
    for path in (index, tmp_path):
        found = diagnosis(path)
        assert (found.tensors, [(each.name, each.file) for each in found.symptoms]) == (
            2,
            [("b", "model-00002-of-00002.safetensors")],
        )


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    index = tmp_path / "model.safetensors.index.json"
    index.write_text('{"weight_map": {"a": "model-00001-of-00002.safetensors"}}')
    found = diagnosis(index)
    assert (found.verdict, str(found.failures[0][1])) == (
        UNREADABLE,
        "names 1 of 1 shards that are not there (model-00001-of-00002.safetensors); copy them beside it",
    )


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<f2", "<c8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_is_read(tmp_path: Path, dtype: str, order: str) -> None:
    array = np.array([[1.0, NAN, 3.0], [4.0, 5.0, 6.0]]).astype(dtype, order=order)
    np.save(tmp_path / "x.npy", array)
    found = looked_at(tensors(tmp_path / "x.npy")["the tensor"])
    assert (found.nans, found.high, found.first_bad is None) == (1, 6.0, False)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed], ids=["stored", "compressed"])
def test_npz_is_read(tmp_path: Path, save: Any) -> None:
    save(tmp_path / "x.npz", good=np.ones(5), bad=np.array([NAN, 1.0]), numbers=np.arange(4))
    assert told(diagnosis(tmp_path / "x.npz")) == [("nan", "bad")]


def test_an_array_of_objects_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object))
    with pytest.raises(UnreadableCheckpoint, match="holds Python objects"):
        read_file(tmp_path / "x.npy", Reading())


def test_the_oldest_format_is_refused_unless_trusted(tmp_path: Path) -> None:
    path = tmp_path / "old.tar"
    with tarfile.open(path, "w") as archive:
        archive.addfile(tarfile.TarInfo("sys_info"), io.BytesIO())
    message = str(diagnosis(path).failures[0][1])
    assert message.startswith("is a tar file, which torch wrote before 2017")
    assert "--trust" in message
    assert "cannot be loaded by torch either" in str(diagnosis(path, trust=True).failures[0][1])


def test_what_is_trusted_is_loaded_by_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "strange.pt"
    path.write_bytes(b"a format of tomorrow")
    monkeypatch.setattr(
        "torch.load", lambda *_, **__: {"w": torch.tensor([[1.0, NAN]]), "n": [torch.ones(2)], "e": torch.zeros(0)}
    )
    found = diagnosis(path, trust=True)
    assert (found.tensors, told(found)) == (3, [("nan", "w")])


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"hello", b"\x80\x02", b"\x93NUMPY\x01"], ids=repr)
def test_a_file_that_is_no_checkpoint_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.pt"
    path.write_bytes(content)
    found = diagnosis(path)
    assert (found.verdict, len(found.failures), bool(str(found.failures[0][1]))) == (UNREADABLE, 1, True)


def test_a_pointer_of_git_lfs_is_called_so(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 132735\n", encoding="utf-8")
    assert "git lfs pull" in str(diagnosis(path).failures[0][1])


@pytest.mark.parametrize("suffix", [".pt", ".old.pt", ".safetensors", ".npy", ".npz"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_a_truncated_file_is_told(tmp_path: Path, suffix: str, share: float) -> None:
    path = tmp_path / f"x{suffix}"
    state = {"w": torch.ones(500)}
    if suffix == ".safetensors":
        write_safetensors(path, state)
    elif suffix.startswith(".np"):
        (np.save if suffix == ".npy" else np.savez)(path, state["w"].numpy())
    else:
        torch.save(state, path, _use_new_zipfile_serialization=suffix == ".pt")
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    found = diagnosis(path)
    assert (found.verdict, len(found.failures)) == (UNREADABLE, 1)


def test_bytes_that_are_gone_are_told_by_place(tmp_path: Path) -> None:
    path = write_safetensors(tmp_path / "x.safetensors", {"w": torch.ones(100)})
    path.write_bytes(path.read_bytes()[:-100])
    assert str(diagnosis(path).failures[0][1]).startswith("is truncated or damaged: `w` should end at byte 400 of 300;")


def test_a_header_that_lies_about_a_tensor_is_told(tmp_path: Path) -> None:
    path = write_safetensors(tmp_path / "x.safetensors", {"w": torch.ones(4)})
    path.write_bytes(path.read_bytes().replace(b'"shape": [4]', b'"shape": [9]'))
    assert "ends at element 8, its storage w at 4" in str(diagnosis(path).failures[0][1])


def test_a_header_that_is_endless_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", 1 << 60) + b"{}")
    assert "header would be" in str(diagnosis(path).failures[0][1])
