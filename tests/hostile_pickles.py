"""Pickles that were made to do harm, as bytes: each with what `nanlint checkpoint` says about it."""

from __future__ import annotations

import io
import pickle
import pickletools
import struct
import tarfile
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILLS = "of memory, as no checkpoint does; do not load it unless you trust whoever made it"
COMMAND = "loading this file for real imports it, and can run commands with it; nanlint has not loaded it"
AGAIN = "; copy it again, or resume from an earlier one"

NAME_TOWER = b"\x80\x04\x8c\x01a)" + b"2\x86" * 40 + b"\x93."
TOWER = b")" + b"2\x86" * 100
"""A tuple of a tuple twice, a hundred times over: no time is enough to print or to hash it."""
CALL = b"\x80\x02cos\nsystem\nX\x05\x00\x00\x00false\x85R."
"""Runs `false` when it is loaded."""


@dataclass(frozen=True)
class Hostile:
    """A file, how it is made, and a part of the line that is said about it."""

    what: str
    name: str
    data: Callable[[], bytes]
    told: str
    code: int = 2


def put(value: Any) -> bytes:
    """The operations that push a plain value."""
    return pickletools.optimize(pickle.dumps(value, 2))[2:-1]


def named(name: str) -> bytes:
    """The operations that push a name."""
    module, _, attribute = name.rpartition(".")
    return f"c{module}\n{attribute}\n".encode()


def called(name: str, *arguments: bytes) -> bytes:
    """The operations that push what a call makes."""
    return named(name) + b"(" + b"".join(arguments) + b"tR"


def pickled(operations: bytes) -> bytes:
    return b"\x80\x02" + operations + b"."


def repeated(first: bytes, again: bytes, times: int) -> bytes:
    """`first` is made once and remembered, `again` is done with it many times."""
    return pickled(first + b"q\x000" + again * times + b"N")


def raw(data: bytes) -> bytes:
    """The operation that pushes bytes."""
    return b"B" + struct.pack("<I", len(data)) + data


def tensor(shape: object, stride: object, items: object, offset: object = 0, *, key: bytes = b"") -> bytes:
    """The operations that make a tensor as torch.save writes it."""
    storage = b"(" + put("storage") + named("torch.FloatStorage") + (key or put("0")) + put("cpu") + put(items) + b"tQ"
    return called(
        "torch._utils._rebuild_tensor_v2", storage, put(offset), put(shape), put(stride), put(value=False), b"}"
    )


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


def torch_file(operations: bytes, data: bytes = bytes(4000)) -> bytes:
    """What torch.save writes, with one storage."""
    return zipped({"m/data.pkl": pickled(operations), "m/data/0": data})


def legacy_file(state: bytes, keys: Any = (), rest: bytes = b"") -> bytes:
    """What torch.save wrote before 1.6."""
    parts: tuple[Any, ...] = (0x1950A86A20F9469CFC6C, 1001, {})
    return b"".join(pickle.dumps(part, 2) for part in parts) + pickled(state) + pickle.dumps(list(keys), 2) + rest


def inside(data: bytes, times: int) -> bytes:
    for _ in range(times):
        data = pickled(called("torch.storage._load_from_bytes", raw(legacy_file(data[2:-1]))))
    return data


def optimizer(state: dict[str, Any]) -> bytes:
    return pickle.dumps({"optimizer": {"state": {}, "param_groups": [{"params": [0]}]}} | state, 2)


def shared_groups(count: int) -> bytes:
    groups = [{"lr": 1e-3, "params": []}] * 1000
    return pickle.dumps([{"state": {}, "param_groups": groups} for _ in range(count)], 4)


def in_a_tar() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        info = tarfile.TarInfo("pickle")
        info.size = len(CALL)
        archive.addfile(info, io.BytesIO(CALL))
    return made.getvalue()


def object_array() -> bytes:
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + CALL


def changed(data: bytes, old: bytes, new: bytes) -> bytes:
    assert old in data
    return data.replace(old, new)


def said_to_be_encrypted(data: bytes) -> bytes:
    """The same zip file with bit 0 of the flags set in its directory."""
    at = data.index(b"PK\x01\x02") + 8
    return data[:at] + bytes([data[at] | 1]) + data[at + 1 :]


BIG = put({str(number): None for number in range(10_000)})
OTHERS = put({"a": 1})


# A row is a line: what it is, the file's name, the bytes, what is told, the exit code.
# fmt: off
def towers() -> Iterator[Hostile]:
    yield Hostile("a name that takes years to write", "x.pkl", lambda: NAME_TOWER, "names something by what is no text")
    yield Hostile("a key that takes years to hash", "x.pkl", lambda: pickled(b"}" + TOWER + b"Ns"), "clean", 0)
    yield Hostile("a size that takes years to print", "x.pkl", lambda: pickled(named("torch.Size") + TOWER + b"\x85R"), f"shape or strides a tuple{AGAIN}")
    yield Hostile("a storage whose key takes years to print", "x.pt", lambda: torch_file(tensor((1,), (1,), 1, key=TOWER)), "it has no member m/data/a tuple")
    yield Hostile("a dtype of numpy's that takes years to print", "x.pkl", lambda: pickled(called("numpy.core.multiarray.scalar", called("numpy.dtype", TOWER), put("x"))), "clean", 0)
    yield Hostile("a persistent name that takes years to print", "x.pkl", lambda: pickled(TOWER + b"Q"), "refers to something outside of itself")
    yield Hostile("a layout that takes years to print", "x.pkl", lambda: pickled(called("torch._utils._rebuild_sparse_tensor", TOWER, put((1, 2, 3)))), "clean", 0)
    yield Hostile("parameter numbers that take years to print", "x.pkl", lambda: pickled(b"}(" + put("state") + b"}" + put("param_groups") + b"](}" + put("params") + b"](" + TOWER + b"eseu"), "clean", 0)
    yield Hostile("a million lists in each other", "x.pkl", lambda: pickled(b"]" * 1_000_000 + b"a" * 999_999), "clean", 0)
    yield Hostile("a list in itself", "x.pkl", lambda: pickled(b"]q\x00h\x00a"), "clean", 0)
    yield Hostile("tensors of tensors of tensors", "x.pkl", lambda: pickled((named("torch._tensor._rebuild_from_type_v2") + b"(") * 3000 + b"NN" + b"NNt" * 3000 + b"R"), "clean", 0)


def copies() -> Iterator[Hostile]:
    def again(name: str) -> bytes:
        return named(name) + b"h\x00\x85R0"

    yield Hostile("a dictionary copied 10,000 times", "x.pkl", lambda: repeated(BIG, again("collections.OrderedDict"), 10_000), FILLS)
    yield Hostile("a list copied 10,000 times", "x.pkl", lambda: repeated(put([None] * 50_000), again("builtins.list"), 10_000), FILLS)
    yield Hostile("a set copied 10,000 times", "x.pkl", lambda: repeated(put([None] * 50_000), again("builtins.set"), 10_000), FILLS)
    yield Hostile("a text encoded 10,000 times", "x.pkl", lambda: repeated(put("x" * 1_000_000), again("_codecs.encode"), 10_000), FILLS)
    yield Hostile("a state merged 10,000 times", "x.pkl", lambda: repeated(BIG, named("m.C") + b")\x81h\x00h\x00\x86b0", 10_000), FILLS)
    yield Hostile("an array's text encoded 10,000 times", "x.pkl", lambda: repeated(put("x" * 1_000_000), named("numpy.core.multiarray._reconstruct") + b")R(K\x01)" + called("numpy.dtype", put("f4")) + b"\x89h\x00tb0", 10_000), FILLS)
    yield Hostile("a size of a million dimensions", "x.pkl", lambda: pickled(named("torch.Size") + put([1] * 1_000_000) + b"\x85R"), f"a tensor has 1,000,000 dimensions{AGAIN}")
    yield Hostile("a size that is a string of bytes", "x.pkl", lambda: pickled(named("torch.Size") + raw(bytes(1_000_000)) + b"\x85R"), "shape or strides a bytes")
    yield Hostile("six files inside of each other", "x.pkl", lambda: inside(pickled(b"N"), 6), "more than 4 pickles inside of each other")
    yield Hostile("one file in a file 10,000 times", "x.pkl", lambda: repeated(put("not a legacy file") + b"0" + raw(legacy_file(raw(bytes(100_000)))), again("torch.storage._load_from_bytes"), 10_000), "asks for more than")
    yield Hostile("a directory of zip files 10,000 times", "x.pkl", lambda: repeated(raw(zipped({f"m/{number}": b"" for number in range(1000)} | {"m/data.pkl": b"N."})), again("torch.storage._load_from_bytes"), 10_000), "as no checkpoint does")


def floods() -> Iterator[Hostile]:
    yield Hostile("eleven million operations", "x.pkl", lambda: pickled(b"N0" * 5_500_000 + b"N"), "has pickles of more than 10,000,000 operations")
    yield Hostile("four million marks", "x.pkl", lambda: pickled(b"(" * 4_000_000), FILLS)
    yield Hostile("four million dictionaries", "x.pkl", lambda: pickled(b"}" * 4_000_000), FILLS)
    yield Hostile("a million scattered memories", "x.pkl", lambda: pickled(b"N" + b"".join(b"r" + struct.pack("<I", 2 * number + 1) for number in range(1_000_000))), FILLS)
    yield Hostile("three million names of one tensor", "x.pt", lambda: torch_file(b"](" + tensor((1,), (1,), 1) + b"q\x00" + b"h\x00" * 3_000_000 + b"e"), FILLS)
    yield Hostile("a million keys that are large numbers", "x.pkl", lambda: pickled(b"}" + b"\x8b" + struct.pack("<i", 100_000) + b"\x01" * 100_000 + b"q\x000" + b"h\x00Ns" * 1_000_000), FILLS)
    yield Hostile("two hundred numbers of a megabyte", "x.pkl", lambda: pickled((b"\x8b" + struct.pack("<i", 1_000_000) + b"\x01" * 1_000_000) * 210), FILLS)
    yield Hostile("a text of seventeen megabytes", "x.pkl", lambda: pickled(put("x" * 17_000_000)), "has a text of 17,000,000 bytes in its pickle")
    yield Hostile("a text whose letters take four bytes each", "x.pkl", lambda: pickled(put("x" * 15_000_000 + "\U0001f600") * 5), FILLS)
    yield Hostile("a line without an end", "x.pkl", lambda: b"\x80\x02c" + b"x" * 20_000_000, "its pickle breaks off at byte 16,777,219 (ValueError: no newline found")
    yield Hostile("60,000 keys with one hash", "x.pkl", lambda: pickled(b"}(" + b"".join(b"\x8a\x0a" + ((2**61 - 1) * number).to_bytes(10, "little") + b"N" for number in range(1, 60_000)) + b"u"), "clean", 0)
    yield Hostile("four million escapes in a text", "x.pkl", lambda: b"S'" + b"\\x41" * 4_000_000 + b"'\n.", "clean", 0)
    yield Hostile("a buffer that is elsewhere", "x.pkl", lambda: b"\x80\x05\x97\x98.", "its pickle breaks off at byte 3")
    yield Hostile("a frame of a terabyte", "x.pkl", lambda: b"\x80\x04\x95" + struct.pack("<Q", 1 << 40) + b"N.", "clean", 0)
    yield Hostile("a text of a terabyte that is not there", "x.pkl", lambda: b"\x80\x04\x8d" + struct.pack("<Q", 1 << 40) + b"x.", "has a text of 1,099,511,627,776 bytes")
    yield Hostile("bytes of a terabyte that are not there", "x.pkl", lambda: b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + b"x.", f"but only 2 remain){AGAIN}")
    yield Hostile("a key of a megabyte at every level", "x.pkl", lambda: pickled(b"}q\x000" + put("k" * 1_000_000) + b"q\x010" + b"}h\x01" * 50 + put(float("nan")) + b"s" * 50), "kkk ... kkk", 0)


def numbers() -> Iterator[Hostile]:
    huge = 10**5000
    yield Hostile("a step of 5,000 digits", "x.pkl", lambda: optimizer({"global_step": huge, "epoch": huge}), "clean", 0)
    yield Hostile("a step count of 5,000 digits", "x.pkl", lambda: pickle.dumps({"state": {0: {"step": huge}}, "param_groups": [{"params": [0], "lr": 1}]}), "clean", 0)
    yield Hostile("a learning rate of 5,000 digits", "x.pkl", lambda: pickle.dumps({"state": {}, "param_groups": [{"params": [0], "lr": huge}]}), "clean", 0)
    yield Hostile("a schedule that is NaN steps long", "x.pkl", lambda: pickle.dumps({"base_lrs": [1.0], "last_epoch": float("nan"), "T_max": float("inf"), "eta_min": 0}), "CosineAnnealingLR is in the checkpoint", 0)
    yield Hostile("a loss scale of 5,000 digits", "x.pkl", lambda: pickle.dumps({"scale": huge, "growth_factor": 2.0}), "clean", 0)
    yield Hostile("20,000 optimizers with the same thousand groups", "x.pkl", lambda: shared_groups(20_000), "training resumes with 0.001", 0)
    yield Hostile("a schedule in itself", "x.pkl", lambda: pickled(b"}q\x00(" + put("_schedulers") + b"](h\x00h\x00e" + put("_milestones") + b"]" + put("last_epoch") + b"K\x01" + put("base_lrs") + put([1.0]) + b"u"), "SequentialLR is in the checkpoint", 0)
    yield Hostile("20,000 schedulers", "x.pkl", lambda: pickle.dumps([{"base_lrs": [1.0], "_last_lr": [1.0]} for _ in range(20_000)]), "is in the checkpoint and the optimizer is not", 0)
    yield Hostile("a key that moves the cursor", "x.pkl", lambda: pickle.dumps({"a\x1b[2J\ud800": [float("nan")]}), "a\\x1b[2J\\ud800.0: is NaN", 1)


def commands() -> Iterator[Hostile]:
    def told(name: str) -> str:
        return f"{name}: {COMMAND}"

    call, command = CALL[2:-1], told("os.system")
    yield Hostile("a command", "x.pkl", lambda: CALL, command, 1)
    yield Hostile("a command in protocol 0", "x.pkl", lambda: b"cos\nsystem\n(S'false'\ntR.", command, 1)
    yield Hostile("a command in a truncated pickle", "x.pkl", lambda: CALL[:-3], command, 1)
    yield Hostile("a command through torch", "x.pkl", lambda: b"\x80\x04\x8c\x05torch\x8c\x17serialization.os.system\x93.", told("torch.serialization.os.system"), 1)
    yield Hostile("a command in a torch file", "x.pt", lambda: torch_file(call), command, 1)
    yield Hostile("a command in a second pickle", "x.pt", lambda: zipped({"m/data.pkl": pickled(b"N"), "m/constants.pkl": CALL}), command, 1)
    yield Hostile("a command in a compressed pickle", "x.pt", lambda: zipped({"m/data.pkl": CALL}, zipfile.ZIP_DEFLATED), command, 1)
    yield Hostile("a command behind a wrong checksum", "x.pt", lambda: changed(torch_file(call + b"0" + put("harmless")), b"harmless", b"harmful!"), command, 1)
    yield Hostile("a command in a member that is said to be encrypted", "x.pt", lambda: said_to_be_encrypted(torch_file(call)), command, 1)
    yield Hostile("a command in a torch file in a pickle", "x.pkl", lambda: pickled(called("torch.storage._load_from_bytes", raw(torch_file(call)))), command, 1)
    yield Hostile("a command before 1.6", "x.pt", lambda: legacy_file(call), command, 1)
    yield Hostile("a command in a tar file", "x.tar", in_a_tar, command, 1)
    yield Hostile("a command in an array of objects", "x.npy", object_array, command, 1)
    yield Hostile("a module that is computed", "x.pkl", lambda: b"\x80\x04cm\nf\n)R\x8c\x06system\x93.", "it names something by what is no text")

# fmt: on


PICKLES = [*towers(), *copies(), *floods(), *numbers(), *commands()]
