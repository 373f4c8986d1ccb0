"""Damaged and hostile files of all other formats: each with what `nanlint checkpoint` says about it."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import struct
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

from tests.hostile_pickles import (
    AGAIN,
    FILLS,
    PICKLES,
    TOWER,
    Hostile,
    changed,
    legacy_file,
    named,
    pickled,
    put,
    tensor,
    torch_file,
    zipped,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

NAN = float("nan")


def two_members_of_one_name() -> bytes:
    return changed(zipped({"m/data.pkl": b"N.", "m/data.pkX": b"N."}), b"m/data.pkX", b"m/data.pkl")


def overlapping_members() -> bytes:
    """The second member of the directory begins where the first does."""
    data = bytearray(zipped({"m/data.pkl": b"N.", "m/data/0": bytes(100)}))
    second = data.rindex(b"PK\x01\x02")
    data[second + 42 : second + 46] = struct.pack("<I", 1)
    return bytes(data)


def long_directory() -> bytes:
    """A directory of 17 MB: half a million members of no bytes at the same place."""
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    count = (17 << 20) // len(entry)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, count * len(entry), 4, 0)
    return b"PK\x03\x04" + entry * count + end


def views(count: int) -> bytes:
    """Tensors over one storage of a megabyte, each a little further in."""
    made = b"".join(tensor((260_000 - number,), (1,), 262_144, number) for number in range(count))
    return torch_file(b"](" + made + b"e", bytes(1 << 20))


def safetensors(header: Any, data: bytes = bytes(64)) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def one(**changes: Any) -> bytes:
    return safetensors({"w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]} | changes})


def npy(header: bytes, data: bytes = bytes(64), length: int | None = None) -> bytes:
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", len(header) if length is None else length) + header + data


def header_of(shape: str, descr: str = "<f4") -> bytes:
    return f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}\n".encode()


def bomb() -> bytes:
    """A compressed array of 4 GB of zeros, in 4 MB; deflate's blocks can be put in a row."""
    machine = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    header = npy(header_of("(1073741824,)"), b"")
    first = machine.compress(header) + machine.flush(zlib.Z_FULL_FLUSH)
    block = machine.compress(bytes(64 << 20)) + machine.flush(zlib.Z_FULL_FLUSH)
    packed, size = first + block * 64, len(header) + (4 << 30)
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 8, 0, 0, 1, len(packed), 0xFFFFFFFF, 5, 0) + b"a.npy"
    extra = struct.pack("<2HQ", 1, 8, size)
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 45, 45, 0, 8, 0, 0, 1, len(packed), 0xFFFFFFFF, 5, len(extra), 0, 0, 0, 0, 0)  # fmt: skip
    entry += b"a.npy" + extra
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(entry), len(local) + len(packed), 0)
    return local + packed + entry + end


def many_compressed(count: int) -> bytes:
    return zipped({f"a{number}.npy": npy(header_of("(16,)")) for number in range(count)}, zipfile.ZIP_DEFLATED)


def index(names: dict[str, str]) -> bytes:
    return json.dumps({"weight_map": names}).encode()


def far_member() -> bytes:
    """A member that claims four gigabytes."""
    data = bytearray(zipped({"m/data.pkl": b"N."}))
    at = data.index(b"PK\x01\x02") + 20
    return bytes(data[:at] + b"\xff" * 8 + data[at + 8 :])


def tar_of(member: tarfile.TarInfo) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member, io.BytesIO(bytes(512)) if member.isfile() else None)
    return made.getvalue()


def tar_of_a_link() -> bytes:
    member = tarfile.TarInfo("pickle")
    member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return tar_of(member)


def tar_of_a_terabyte() -> bytes:
    member = tarfile.TarInfo("pickle")
    member.size, member.pax_headers = (
        2,
        {"GNU.sparse.size": str(1 << 40), "GNU.sparse.map": "0,1", "size": str(1 << 40)},
    )
    return tar_of(member)


def distributed(**place: bytes) -> bytes:
    """An index of torch.distributed.checkpoint that names one shard."""

    def item(state: dict[str, bytes]) -> bytes:
        return named("m.C") + b")\x81}(" + b"".join(put(key) + value for key, value in state.items()) + b"ub"

    shard = {"fqn": put("w"), "relative_path": put("x.distcp"), "offset": put(0), "length": put(8)} | place
    key = item({"fqn": shard.pop("fqn")})
    return pickled(named("m.C") + b")\x81}" + put("storage_data") + b"}" + key + item(shard) + b"ssb")


def packed_wrongly() -> bytes:
    data = bytearray(zipped({"a.npy": npy(header_of("(50000,)"), bytes(range(200)) * 1000)}, zipfile.ZIP_DEFLATED))
    data[200] ^= 0xFF
    return bytes(data)


# fmt: off
def shapes() -> Iterator[Hostile]:
    for what, shape, told in (
        ("a float", (2.0, 2), "(2.0, 2)"),
        ("NaN", (NAN, 2), "(nan, 2)"),
        ("a negative number", (-1, 2), "(-1, 2)"),
        ("a truth", (True, 2), "(True, 2)"),
        ("a number of 70 bits", (1 << 70, 2), "(a very large int, 2)"),
        ("a text", "ab", "ab"),
        ("nothing", None, "None"),
    ):
        operations = tensor(shape, (2, 1), 1000)
        yield Hostile(f"a shape with {what}", "x.pt", lambda o=operations: torch_file(o), f"a tensor has the shape or strides {told}{AGAIN}")  # type: ignore[misc]
    yield Hostile("70 dimensions", "x.pt", lambda: torch_file(tensor((1,) * 70, (1,) * 70, 1000)), f"a tensor has 70 dimensions{AGAIN}")
    yield Hostile("a negative stride", "x.pt", lambda: torch_file(tensor((2, 2), (-2, 1), 1000)), "shape or strides (-2, 1)")
    yield Hostile("more sizes than strides", "x.pt", lambda: torch_file(tensor((2, 2), (1,), 1000)), "has the shape (2, 2), the strides (1)")
    yield Hostile("a negative offset", "x.pt", lambda: torch_file(tensor((2,), (1,), 1000, -1)), "the offset -1")
    yield Hostile("an offset that is a list", "x.pt", lambda: torch_file(tensor((2,), (1,), 1000, [[]])), "the offset a list")
    yield Hostile("a tensor outside of its storage", "x.pt", lambda: torch_file(tensor((1001,), (1,), 1000)), "ends at element 1,000, its storage 0 at 1,000")
    yield Hostile("a tensor of more values than there are numbers", "x.pt", lambda: torch_file(tensor((1 << 61, 1 << 61), (0, 0), 1000)), "a tensor has the shape (2305843009213693952, 2305843009213693952)")
    yield Hostile("a value repeated a trillion times", "x.pt", lambda: torch_file(tensor((1 << 40,), (0,), 1000)), "clean", 0)
    yield Hostile("overlapping strides that are 3 GB", "x.pt", lambda: torch_file(tensor((30_000, 30_000), (1, 1), 60_000), bytes(240_000)), "clean", 0)
    yield Hostile("overlapping strides with gaps", "x.pt", lambda: torch_file(tensor((9000, 9000), (2, 3), 60_000), bytes(240_000)), "and overlapping strides (2, 3), as no checkpoint does")
    yield Hostile("20,000 views of one storage", "x.pt", lambda: views(20_000), "asks for more than")
    yield Hostile("a storage that claims to be a gigabyte", "x.pt", lambda: torch_file(tensor((1,), (1,), 1 << 28)), f"should end at byte 1,073,741,824 of 4,000{AGAIN}")
    yield Hostile("a storage of a float number of elements", "x.pt", lambda: torch_file(tensor((1,), (1,), 1000.0)), f"storage 0 has 1000.0 elements{AGAIN}")
    yield Hostile("a storage that is not there", "x.pt", lambda: torch_file(tensor((1,), (1,), 1, key=put("7"))), f"it has no member m/data/7{AGAIN}")


def zips() -> Iterator[Hostile]:
    good = torch_file(tensor((1000,), (1,), 1000))
    yield Hostile("a changed weight", "x.pt", lambda: changed(good, bytes(3000), bytes(2999) + b"\x01"), "`the tensor` is damaged: the bytes of m/data/0 are not those that were saved (CRC")
    yield Hostile("a changed pickle", "x.pt", lambda: changed(good, b"FloatStorage", b"HalfXStorage"), "the bytes of m/data.pkl are not those that were saved (CRC")
    yield Hostile("two members of one name", "x.pt", two_members_of_one_name, "has two members of one name")
    yield Hostile("members that overlap", "x.pt", overlapping_members, f"its members m/data.pkl and m/data/0 overlap{AGAIN}")
    yield Hostile("a directory of 17 MB", "x.pt", long_directory, "has a zip directory of 17,825,")
    yield Hostile("a torch file that is cut off", "x.pt", lambda: good[:-100], "is truncated or damaged: File is not a zip file")
    yield Hostile("a zip file of something else", "x.pt", lambda: zipped({"readme": b""}), "is a zip file that torch did not write (it has 0 data.pkl and not one)")
    yield Hostile("a zip file with two pickles", "x.pt", lambda: zipped({"a/data.pkl": b"N.", "b/data.pkl": b"N."}), "it has 2 data.pkl and not one")
    yield Hostile("a compressed pickle", "x.pt", lambda: zipped({"m/data.pkl": b"N."}, zipfile.ZIP_DEFLATED), "has the compressed member m/data.pkl, which torch.save never makes")
    yield Hostile("a member of four gigabytes that is not there", "x.pt", far_member, "the member m/data.pkl should end at byte 4,294,967,335 of 120")
    yield Hostile("a zip file of 1,000 zip files", "x.npz", lambda: zipped({f"a{number}.npy": zipped({"b.npy": b""}) for number in range(1000)}), "the header of the array would be")
    yield Hostile("a tar file of a link", "x.tar", tar_of_a_link, "is a tar file, which torch wrote before 2017")
    yield Hostile("a tar file that claims a terabyte", "x.tar", tar_of_a_terabyte, "a member should end at byte 1,099,511,6")
    yield Hostile("a storage twice, before 1.6", "x.pt", lambda: legacy_file(b"N", ["0", "0"], bytes(16)), f"it has the data of storage 0 twice{AGAIN}")
    yield Hostile("a storage of less than nothing, before 1.6", "x.pt", lambda: legacy_file(b"N", ["0"], struct.pack("<q", -1)), "is truncated or damaged: the data of storage 0")
    yield Hostile("keys that take years to print, before 1.6", "x.pt", lambda: legacy_file(b"N")[:-6] + pickled(b"](" + TOWER + b"e"), "the size of storage a tuple")
    yield Hostile("a view of a storage at a float, before 1.6", "x.pt", lambda: legacy_file(b"(" + put("storage") + named("torch.FloatStorage") + put("0") + put("cpu") + put(4) + put(("v", 1.5, 2)) + b"tQ"), "storage v begins at element 1.5")
    yield Hostile("a version from the future, before 1.6", "x.pt", lambda: changed(legacy_file(b"N"), b"M\xe9\x03", b"M\xea\x03"), "has version 1002 of torch's old format")


def arrays() -> Iterator[Hostile]:
    yield Hostile("a header of 93 MB", "x.safetensors", lambda: safetensors(b'{"a":[' + b"[]," * 31_000_000 + b"[]]}"), FILLS)
    yield Hostile("a header of 12 MB that unfolds", "x.safetensors", lambda: safetensors(b'{"a":[' + b"{}," * 4_000_000 + b"{}]}"), FILLS)
    yield Hostile("a header that is longer than the file", "x.safetensors", lambda: struct.pack("<Q", 1 << 40) + b"{}", "its header would be 1,099,511,627,776 bytes long; copy it again")
    yield Hostile("a header that is cut off", "x.safetensors", lambda: one()[:30], "is truncated or damaged: the header should end at byte")
    yield Hostile("a header that is no JSON", "x.safetensors", lambda: safetensors(b"{nothing}"), "its header is no JSON")
    yield Hostile("a header of 100,000 brackets", "x.safetensors", lambda: safetensors(b"[" * 100_000), "its header is no JSON")
    yield Hostile("a header that is a list", "x.safetensors", lambda: safetensors([1]), f"its header is no JSON object{AGAIN}")
    yield Hostile("data that is cut off", "x.safetensors", lambda: one(shape=[100], data_offsets=[0, 400]), f"`w` should end at byte 400 of 64{AGAIN}")
    yield Hostile("tensors that overlap", "x.safetensors", lambda: safetensors({name: {"dtype": "F32", "shape": [4], "data_offsets": [start, start + 16]} for name, start in (("a", 0), ("b", 8))}), f"its tensors `a` and `b` overlap{AGAIN}")
    yield Hostile("a tensor of other bytes than its shape needs", "x.safetensors", lambda: one(shape=[2, 1]), f"`w` of shape (2, 1) needs 8 bytes and has 16{AGAIN}")
    yield Hostile("a float in a shape of safetensors", "x.safetensors", lambda: one(shape=[2.5, 2]), "shape or strides (2.5, 2)")
    yield Hostile("NaN in a shape of safetensors", "x.safetensors", lambda: one(shape=[NAN, 2]), "shape or strides (nan, 2)")
    yield Hostile("70 dimensions in safetensors", "x.safetensors", lambda: one(shape=[1] * 70), "a tensor has 70 dimensions")
    yield Hostile("offsets that go backwards", "x.safetensors", lambda: one(data_offsets=[16, 0]), f"its header does not say where `w` is{AGAIN}")
    yield Hostile("a dtype that is a dictionary", "x.safetensors", lambda: one(dtype={}), f"its header does not say what `w` holds{AGAIN}")
    yield Hostile("a tensor that is a list", "x.safetensors", lambda: safetensors({"w": [1]}), "its header does not say where `w` is")
    yield Hostile("400,000 tensors of no elements", "x.safetensors", lambda: safetensors({f"t{number}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for number in range(400_000)}), FILLS)
    yield Hostile("metadata and a name that move the cursor", "x.safetensors", lambda: safetensors({"__metadata__": {"a\x1b[2J": "\x1b]0;x\x07"}, "w\x1b[2J": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, struct.pack("<f", NAN)), "w\\x1b[2J: every value is NaN", 1)
    yield Hostile("an array of no elements that is endless", "x.npy", lambda: npy(header_of("(0, 9223372036854775807, 9223372036854775807)")), "shape or strides (0, a very large int, a very large int)")
    yield Hostile("an array whose elements are two gigabytes", "x.npy", lambda: npy(header_of("(1,)", "|V2147483647")), "clean", 0)
    yield Hostile("a header of four billion bytes", "x.npy", lambda: npy(b"{}", length=0xFFFFFFFF), "the header of the array would be 4,294,967,295 bytes long")
    yield Hostile("a header of brackets", "x.npy", lambda: npy(b"(" * 9000), "the header of the array cannot be read")
    yield Hostile("a header of signs", "x.npy", lambda: npy(b"-" * 9000 + b"1"), "the header of the array cannot be read")
    yield Hostile("an array larger than its file", "x.npy", lambda: npy(header_of("(1000000,)")), "ends at element 999,999, its storage of the array at 16")
    yield Hostile("a negative shape of an array", "x.npy", lambda: npy(header_of("(-4,)")), "shape or strides (-4)")
    yield Hostile("a compressed array of 4 GB", "x.npz", bomb, "and unpacks into more than 1,")
    yield Hostile("5,000 compressed arrays", "x.npz", lambda: many_compressed(5000), "clean (5,000 tensors", 0)
    yield Hostile("a compressed array with a changed byte", "x.npz", packed_wrongly, "a.npy")


def others() -> Iterator[Hostile]:
    yield Hostile("a Git LFS pointer", "x.safetensors", lambda: b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "is a Git LFS pointer, not the checkpoint itself; run git lfs pull")
    yield Hostile("a Git LFS pointer as a torch file", "pytorch_model.bin", lambda: b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "is a Git LFS pointer")
    yield Hostile("a web page", "x.pt", lambda: b"<!DOCTYPE html><html><body>Sign in", "is a web page, not the checkpoint itself")
    yield Hostile("a gzip file", "x.pt", lambda: gzip.compress(b"x"), "is compressed with gzip; unpack it with gunzip")
    yield Hostile("an empty file", "x.pt", lambda: b"", "is empty (0 bytes): the run that saved it was stopped, or the disk was full; resume from an earlier one")
    yield Hostile("a file of zeros", "x.safetensors", lambda: bytes(5000), "begins with zeros: it was never written to its end")
    yield Hostile("a text", "x.pt", lambda: b"# notes\n", "is no checkpoint that we know: it begins with b'# notes")
    yield Hostile("an index with a dictionary as a file", "m.safetensors.index.json", lambda: b'{"weight_map": {"a": {"b": 1}}}', f"its weight_map names a dict where a file should be{AGAIN}")
    yield Hostile("an index of a list", "m.safetensors.index.json", lambda: b'{"weight_map": []}', "is no index of shards: it has no weight_map")
    yield Hostile("an index that points upwards", "m.safetensors.index.json", lambda: b'{"weight_map": {"a": "../secret.safetensors"}}', "names the file ../secret.safetensors, which is not in its own folder")
    yield Hostile("an index that points anywhere", "m.safetensors.index.json", lambda: b'{"weight_map": {"a": "/etc/passwd"}}', "names the file /etc/passwd, which is not in its own folder")
    yield Hostile("an index of 300,000 shards", "m.safetensors.index.json", lambda: index({f"w{number}": f"{number}.safetensors" for number in range(300_000)}), "names 300,000 shards, as no checkpoint does")
    yield Hostile("a state in JSON of 100,000 dictionaries in each other", "trainer_state.json", lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "is no JSON")
    yield Hostile("a step in JSON of a million digits", "trainer_state.json", lambda: b'{"global_step": ' + b"9" * 1_000_000 + b"}", "is no JSON")
    yield Hostile("an index of shards that are not there", "m.safetensors.index.json", lambda: b'{"weight_map": {"a": "x.safetensors"}}', "names 1 of 1 shards that are not there (x.safetensors); copy them beside it")
    yield Hostile("a state in JSON that unfolds", "trainer_state.json", lambda: b"[" + b"{}," * 5_000_000 + b"{}]", FILLS)
    yield Hostile("an index of torch.distributed that points upwards", ".metadata", lambda: distributed(relative_path=put("../x.distcp")), "names the file ../x.distcp, which is not in its own folder")
    yield Hostile("an index of torch.distributed without its shards", ".metadata", distributed, "names the file x.distcp, which is not there; copy it beside the index")
    yield Hostile("a shard whose name takes years to print", ".metadata", lambda: distributed(fqn=TOWER), "a shard is a tuple in x.distcp, 8 bytes from 0 on")
    yield Hostile("a shard that begins at a float", ".metadata", lambda: distributed(offset=put(0.5)), "a shard is w in x.distcp, 8 bytes from 0.5 on")
    yield Hostile("an index of torch.distributed that is a number", ".metadata", lambda: pickle.dumps(1), "is no index of torch.distributed.checkpoint")

# fmt: on


FILES = [*PICKLES, *shapes(), *zips(), *arrays(), *others()]
