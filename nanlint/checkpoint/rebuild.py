"""What the names that torch and numpy put into a pickle stand for.

Each builder turns the arguments of one such call into data. It gets what the file says, so it checks what it gets; a
wrong number or kind of argument is a damaged file.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from nanlint.checkpoint.reading import UnreadableCheckpoint
from nanlint.checkpoint.region import Region
from nanlint.checkpoint.saved import ITEM_BYTES, Name, Opaque, SavedTensor, Storage, contiguous, is_count, plain, sizes

if TYPE_CHECKING:
    from collections.abc import Callable

STORAGE_DTYPES = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128", "QInt8Storage": "qint8", "QUInt8Storage": "quint8", "QInt32Storage": "qint32",
    "UntypedStorage": "uint8",
}  # fmt: skip

_NUMPY_DTYPES = {
    "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128",
    "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
    "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64", "b1": "bool",
}  # fmt: skip

_STRUCTS = {
    "float16": "e", "float32": "f", "float64": "d", "bool": "?",
    "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
}  # fmt: skip


def dtype_name(dtype: object) -> str:
    """`float32` for torch's name of it; the storage class of an old file is as good."""
    full = dtype.full if isinstance(dtype, Name) else dtype
    short = plain(full).rpartition(".")[2]
    return STORAGE_DTYPES.get(short, short)


def numpy_dtype(code: str) -> tuple[str, bool]:
    """Our name of a numpy dtype such as `<f4`, and whether its bytes are in the other order; unknown ones stay as they are."""
    return _NUMPY_DTYPES.get(code.lstrip("<>=|"), f"numpy {plain(code)}"), code.startswith(">")


def _strided(storage: Storage, offset: int, shape: Any, stride: Any, *_: Any) -> SavedTensor:
    return SavedTensor(storage.dtype, sizes(shape), sizes(stride), offset, storage).checked()


def _strided_of_dtype(*given: Any) -> SavedTensor:
    """The third version of torch's own: the storage is untyped and the dtype stands beside it."""
    storage, offset, shape, stride, _, _, dtype = given[:7]
    name = dtype_name(dtype)
    items = storage.items * ITEM_BYTES.get(storage.dtype, 1) // ITEM_BYTES.get(name, 1)
    typed = Storage(name, items, storage.key, storage.locate)
    return SavedTensor(name, sizes(shape), sizes(stride), offset, typed).checked()


def _parameter(data: Any, *_: Any) -> Any:
    return data


def _quantized(*given: Any) -> Any:
    tensor = _strided(*given[:4])
    # Scale and zero point can be tensors or numbers; as an object's children they are looked at like everything else.
    return Opaque("quantized", (), {"values": tensor, "quantizer": given[4]})


def _sparse(layout: Any, data: tuple[Any, ...]) -> Opaque:
    kind = dtype_name(layout)
    values = data[1] if kind == "sparse_coo" else data[2]
    return Opaque("sparse", (), {}, meaning=values) if isinstance(values, SavedTensor) else Opaque("sparse", (data,))


def _meta(dtype: Any, shape: Any, stride: Any, *_: Any) -> SavedTensor:
    return SavedTensor(dtype_name(dtype), sizes(shape), sizes(stride)).checked()


def _nested(buffer: Any, *rest: Any) -> Any:
    del rest
    return buffer


def _of_type(function: Name, kind: Any, arguments: tuple[Any, ...], state: Any) -> Any:
    """A tensor of a subclass: torch's own, or if it only wraps others, an object whose state they are in."""
    builder = BUILDERS.get(function.full) if function.full.startswith("torch._utils.") else None
    made = Opaque(function.full, (arguments,)) if builder is None else builder(*arguments)
    if isinstance(made, SavedTensor):
        return made
    return Opaque(kind.full if isinstance(kind, Name) else "tensor", (made,), state)


def _from_numpy(array: Any, *_: Any) -> Any:
    return array


def _array(state: Any) -> SavedTensor | None:
    """The state of a numpy array: version, shape, dtype, order, bytes. An array of objects holds no numbers."""
    if not isinstance(state, tuple) or len(state) != 5 or isinstance(state[4], list):
        return None
    _, shape, dtype, fortran, data = state
    return _array_over(data, dtype, shape, "F" if fortran else "C")


def _array_over(data: Any, dtype: Any, given: Any, order: str = "C") -> SavedTensor:
    name, big_endian = _dtype_of(dtype)
    shape = sizes(given)
    raw = data.encode("latin1") if isinstance(data, str) else data
    view = memoryview(raw).cast("B")
    storage = Storage(name, len(view) // ITEM_BYTES.get(name, 1), "of the array", lambda: Region(view))
    stride = contiguous(shape) if order == "C" else tuple(reversed(contiguous(tuple(reversed(shape)))))
    return SavedTensor(name, shape, stride, 0, storage, big_endian).checked()


def _dtype_of(dtype: Any) -> tuple[str, bool]:
    """From `numpy.dtype('f4')` with its state (3, '<', ...)."""
    if not isinstance(dtype, Opaque) or not dtype.arguments:
        return "numpy object", False
    order = dtype.state[1] if isinstance(dtype.state, tuple) else "<"
    if not isinstance(order, str) or not isinstance(dtype.arguments[0], str):
        return "numpy object", False
    return numpy_dtype(f"{order}{dtype.arguments[0]}".replace("<<", "<"))


def _scalar(dtype: Any, data: Any = b"") -> Any:
    name, big_endian = _dtype_of(dtype)
    raw = data.encode("latin1") if isinstance(data, str) else data
    if name not in _STRUCTS or not isinstance(raw, bytes):
        return Opaque("numpy.scalar", (dtype, data))
    return struct.unpack((">" if big_endian else "<") + _STRUCTS[name], raw)[0]


def _encoded(text: Any, *_: Any) -> Any:
    return text.encode("latin1") if isinstance(text, str) else text


def _mapping(*given: Any) -> dict[Any, Any]:
    """A dictionary of some kind; what it was made from are pairs or another dictionary, and plain data."""
    source = given[-1] if given else None
    if isinstance(source, dict):
        return dict(source)
    if isinstance(source, list):
        return {pair[0]: pair[1] for pair in source if isinstance(pair[0], str) or is_count(pair[0])}
    return {}


def _sequence(*given: Any) -> list[Any]:
    source = given[0] if given else []
    return list(source) if isinstance(source, list | tuple) else []


def _bytes(*given: Any) -> Any:
    return given[0] if given and isinstance(given[0], bytes) else b""


def _refused(*_: Any) -> Any:
    raise UnreadableCheckpoint("holds tensors that another process shared in memory; save them with torch.save")


_TORCH: dict[str, Callable[..., Any]] = {
    "_rebuild_tensor": _strided,
    "_rebuild_tensor_v2": _strided,
    "_rebuild_tensor_v3": _strided_of_dtype,
    "_rebuild_parameter": _parameter,
    "_rebuild_parameter_with_state": _parameter,
    "_rebuild_qtensor": _quantized,
    "_rebuild_sparse_tensor": _sparse,
    "_rebuild_sparse_csr_tensor": _sparse,
    "_rebuild_meta_tensor_no_storage": _meta,
    "_rebuild_nested_tensor": _nested,
    "_rebuild_device_tensor_from_numpy": _from_numpy,
    "_rebuild_device_tensor_from_cpu_tensor": _from_numpy,
}

BUILDERS: dict[str, Callable[..., Any]] = {
    **{f"torch._utils.{name}": builder for name, builder in _TORCH.items()},
    "torch._tensor._rebuild_from_type": _of_type,
    "torch._tensor._rebuild_from_type_v2": _of_type,
    "torch.serialization._get_layout": lambda name: name,
    "torch.nn.parameter.Parameter": _parameter,
    "torch.Tensor": lambda *given: given[0] if given else None,
    "torch.Size": lambda *given: sizes(given[0]) if given else (),
    "collections.OrderedDict": _mapping,
    "collections.defaultdict": _mapping,
    "collections.Counter": _mapping,
    "builtins.dict": _mapping,
    "builtins.set": _sequence,
    "builtins.frozenset": _sequence,
    "builtins.list": _sequence,
    "builtins.tuple": lambda *given: tuple(_sequence(*given)),
    "builtins.bytes": _bytes,
    "builtins.bytearray": _bytes,
    "__builtin__.set": _sequence,
    "__builtin__.bytearray": _bytes,
    "_codecs.encode": _encoded,
    **{f"numpy.{core}.multiarray._reconstruct.__setstate__": _array for core in ("core", "_core")},
    **{f"numpy.{core}.multiarray.scalar": _scalar for core in ("core", "_core")},
    **{f"numpy.{core}.numeric._frombuffer": _array_over for core in ("core", "_core")},
    "torch.multiprocessing.reductions.rebuild_tensor": _refused,
}
"""By full name; everything else stays an `Opaque` object."""

COPYING = frozenset(
    {
        "_codecs.encode",
        "collections.OrderedDict",
        "collections.defaultdict",
        "collections.Counter",
        *(name for name in BUILDERS if name.startswith(("builtins.", "__builtin__.")) or name.endswith("_frombuffer")),
    }
)
"""Those that copy what they are given, however large it is."""
