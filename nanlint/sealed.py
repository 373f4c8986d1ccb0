"""Files that only this user's nanlint can have written: the cache and what else is kept between runs.

A checked repository may bring a cache folder of its own, so nothing in one is believed because it is there. Each file
starts with a seal made with a key from the user's own cache folder; without that seal it is as if it were not there.
No link is followed, and nothing but regular files is opened.
"""

# pathlib is not imported on a clean run.
# ruff: noqa: PTH100, PTH103, PTH105, PTH108, PTH111, PTH114, PTH117, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress

try:
    from _blake2 import blake2b  # as in nanlint.digest
except ImportError:
    from hashlib import blake2b

_KEY_BYTES = 32
_SEAL_DIGITS = 64

LARGEST_SETTINGS = 1 << 20
"""Bytes of the largest settings file that is read; a real one has a thousandth of it."""
_LARGEST = 1 << 28

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_CREATING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def user_folder(kind: str) -> str:
    """The user's own folder for nanlint: `kind` is "cache" or "config"."""
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "nanlint", kind)
    named = os.environ.get(f"XDG_{kind.upper()}_HOME", "")
    home = named if os.path.isabs(named) else os.path.join(os.path.expanduser("~"), f".{kind}")
    return os.path.join(home, "nanlint")


def read_regular(path: str, *, largest: int, follow: bool = True) -> bytes:
    """The bytes of a regular file; OSError for anything else, so that no pipe or device is waited for."""
    if not follow and os.path.islink(path):  # Windows has no O_NOFOLLOW
        raise OSError(0, "a symbolic link")
    descriptor = os.open(path, _READING | (0 if follow else _NO_FOLLOW))
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "not a regular file")
        if status.st_size > largest:
            raise OSError(0, f"larger than {largest} bytes")
        return file.read()


def write_new(path: str, data: bytes, mode: int = 0o666) -> None:
    """Create a file that was not there; a link that leads nowhere is there."""
    with open(os.open(path, _CREATING, mode), "wb") as file:
        file.write(data)


def has_link_below(root: str, folder: str) -> bool:
    """Whether a step from `root` down to `folder` is a symbolic link, or `folder` is not below `root` at all."""
    top = os.path.join(os.path.abspath(root), "")
    path = os.path.abspath(folder)
    if not path.startswith(top):
        return True
    while len(path) >= len(top):
        if os.path.islink(path):
            return True
        path = os.path.dirname(path)
    return False


def read_sealed(path: str) -> bytes | None:
    """What `write_sealed` wrote there; None for everything else."""
    try:
        content = read_regular(path, largest=_LARGEST, follow=False)
        seal, data = content[:_SEAL_DIGITS], content[_SEAL_DIGITS + 1 :]
        return data if seal and seal == _seal(path, data) else None
    except OSError:
        return None


def write_sealed(path: str, data: bytes) -> None:
    """Put `data` at `path` in one step; OSError if that cannot be done, and then nothing is left behind."""
    draft = f"{path}.{os.getpid()}"
    with suppress(FileNotFoundError):
        os.unlink(draft)  # of a run that was killed; a link is removed, not followed
    try:
        write_new(draft, _seal(path, data) + b"\n" + data)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _seal(path: str, data: bytes) -> bytes:
    """The seal of `data` under the name of `path`; raises OSError where the user has no key and none can be made."""
    name = os.fsencode(os.path.basename(path))
    return blake2b(name + b"\0" + data, digest_size=_SEAL_DIGITS // 2, key=_key()).hexdigest().encode()


def _key() -> bytes:
    folder = user_folder("cache")
    path = os.path.join(folder, "key")
    key = _read_key(path)
    if key is None and os.path.isabs(folder):  # without a home it would be a folder of the repository
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with suppress(FileExistsError):  # another run made it meanwhile
            write_new(path, os.urandom(_KEY_BYTES), 0o600)
        key = _read_key(path)
    if key is None:
        raise OSError(0, f"{path} is no key of ours")
    return key


def _read_key(path: str) -> bytes | None:
    try:
        key = read_regular(path, largest=_KEY_BYTES, follow=False)
    except OSError:
        return None
    return key if len(key) == _KEY_BYTES else None
