"""Writing a file so that whoever looks, whenever, sees the old content or the new, never a part.

The new content goes to a temporary file in the same folder, reaches the disk, and takes the name of the old file in
one step. Symbolic links stay and their target is written; a hard link parts from its siblings, which is the price.
A process that is killed leaves its temporary file behind; whoever writes in that folder next takes it away.
"""

# Descriptors and mode bits are the business of os.
# ruff: noqa: PTH101, PTH105, PTH108, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import contextlib
import functools
import os
import re
import stat
import sys
import time

from nanlint.source.read import UnwritableSource

_OURS = re.compile(r"\.nanlint-([1-9][0-9]{0,9})-[0-9a-f]{16}\.tmp")
"""A temporary file, with the number of the process that writes it."""

# Nobody writes one file for so long; its process is gone, and another one has its number.
_ABANDONED_AFTER = 86_400.0


def write_atomically(path: str | os.PathLike[str], data: bytes, *, expected: bytes | None = None) -> bool:
    """Give the file at `path` the content `data`; False if it has it already, and then it is not touched.

    Mode bits are kept, the owner where the system allows it. With `expected`, a file that no longer holds these bytes
    is left alone. Every failure is an `UnwritableSource` and leaves the file as it was, with nothing beside it.
    """
    target = os.path.realpath(path)
    try:
        old = _status(target)
        current = _content(target) if old else None
        if expected is not None and current != expected:
            raise UnwritableSource("changed on disk since it was read; run again")
        if current == data:
            return False
        _replace(target, data, old)
    except OSError as error:
        raise UnwritableSource(_why_unwritable(target, error)) from None
    return True


def _status(target: str) -> os.stat_result | None:
    """What the file is now, None if it is not there; refuses what must not be replaced."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise UnwritableSource("not a regular file; nanlint writes regular files only")
    # The rename would succeed all the same, and for root so would a plain write: the bits are what the owner said.
    if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(target, os.W_OK):
        raise UnwritableSource("the file is read-only; make it writable (chmod u+w) or exclude it")
    return status


def _content(target: str) -> bytes:
    with open(target, "rb") as file:
        return file.read()


def _replace(target: str, data: bytes, old: os.stat_result | None) -> None:
    folder = os.path.dirname(target)
    _clear_leftovers(folder)
    temporary = os.path.join(folder, f".nanlint-{os.getpid()}-{os.urandom(8).hex()}.tmp")
    try:
        _write_new(temporary, data, old)
        os.replace(temporary, target)
    except BaseException:  # Ctrl-C too must leave nothing behind
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


@functools.cache
def _clear_leftovers(folder: str) -> None:
    """Delete what killed processes left in a folder that is written in; asked once for each folder."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            ours = _OURS.fullmatch(entry.name)
            if ours is not None and _is_abandoned(entry, int(ours[1])):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _is_abandoned(entry: os.DirEntry[str], process: int) -> bool:
    """Whether nobody will rename the file any more. A link or a folder of that name is none of ours."""
    if not entry.is_file(follow_symlinks=False):
        return False
    return not _runs(process) or time.time() - entry.stat(follow_symlinks=False).st_mtime > _ABANDONED_AFTER


def _runs(process: int) -> bool:
    """Whether there is such a process; where nobody can tell, there is."""
    if sys.platform == "win32":  # os.kill would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's
        return True
    return True


def _write_new(temporary: str, data: bytes, old: os.stat_result | None) -> None:
    """Create `temporary` with `data` on disk, and with the owner and mode of `old`."""
    # A private mode until the real one is set: the old file may be a secret. A new file gets what the umask gives.
    mode = 0o666 if old is None else 0o600
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    with open(os.open(temporary, flags, mode), "wb") as file:
        file.write(data)
        file.flush()
        if old is not None:
            _keep_owner_and_mode(temporary, old)
        os.fsync(file.fileno())


def _keep_owner_and_mode(temporary: str, old: os.stat_result) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(OSError):  # only root may give files away; the mode is kept all the same
            os.chown(temporary, old.st_uid, old.st_gid)
    os.chmod(temporary, stat.S_IMODE(old.st_mode))


def _why_unwritable(target: str, error: OSError) -> str:
    if isinstance(error, PermissionError) and error.filename == target:
        return "permission denied; make it readable and writable or exclude it"
    if isinstance(error, PermissionError):
        folder = os.path.dirname(target)
        return f"no permission to write in folder {folder}; make it writable or exclude the file"
    return f"cannot be written: {error.strerror or error}"
