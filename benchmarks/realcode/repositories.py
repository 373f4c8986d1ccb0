"""Research repositories at a commit: read from a folder of git directories, and written out without running anything of them.

The objects are read one by one. A checkout or an archive would run the filters that a repository's own configuration names.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from benchmarks.realcode.archives import NotAvailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What nanlint reads: code, and the configurations beside it.
SUFFIXES = frozenset({".py", ".ipynb", ".toml", ".yaml", ".yml", ".json", ".cfg", ".ini"})
# Nobody writes a source file of this size by hand; data files often have the suffix of a configuration.
MOST_BYTES = 1_000_000
_PLAIN_FILES = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository at a commit, `owner/name@commit`."""

    name: str
    commit: str

    @property
    def folder(self) -> str:
        """The name of the folder it is written into."""
        return f"{self.name.replace('/', '+')}@{self.commit[:12]}"


@dataclass(frozen=True, slots=True)
class Mirror:
    """A folder of git directories, `owner+name` or one below it, and the folder that trees are written into."""

    folder: Path
    work: Path

    def tree(self, repository: Repository, changed: Mapping[str, str] | None = None, variant: str = "") -> Path:
        """The files of the commit; those in `changed` (path -> blob) take the place of theirs in a tree of its own."""
        target = self.work / "repositories" / (repository.folder + variant)
        if target.is_dir():
            return target
        git = self.git_folder(repository.name)
        files = {**_listed(git, repository.commit), **(changed or {})}
        _write_into_place(git, files, target)
        return target

    def file_alone(self, repository: Repository, path: str, blob: str, variant: str) -> Path:
        """A tree that holds nothing but one file."""
        target = self.work / "lone" / (repository.folder + variant)
        if not target.is_dir():
            _write_into_place(self.git_folder(repository.name), {path: blob}, target)
        return target

    def git_folder(self, name: str) -> Path:
        """The git directory of a repository, bare or beside a work tree."""
        top = self.folder / name.replace("/", "+")
        for place in (top, top / ".git", top / "repo", top / "repo" / ".git"):
            if (place / "objects").is_dir():
                return place
        raise NotAvailable(f"{self.folder} has no git directory of {name} ({top.name})")


def _listed(git: Path, commit: str) -> dict[str, str]:
    """Path -> blob of what nanlint reads at `commit`."""
    files = {}
    for entry in _git(git, "ls-tree", "-r", "-l", "-z", commit).decode("utf-8", "replace").split("\0")[:-1]:
        about, _, path = entry.partition("\t")
        mode, _, blob, size = about.split()
        inside = not PurePosixPath(path).is_absolute() and ".." not in path.split("/")
        if (
            mode in _PLAIN_FILES
            and inside
            and Path(path).suffix in SUFFIXES
            and size.isdigit()
            and int(size) <= MOST_BYTES
        ):
            files[path] = blob
    return files


def _write_into_place(git: Path, files: Mapping[str, str], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    # Written beside its place and renamed, so that an interrupted run leaves no half of a tree behind.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".write-") as scratch:
        tree = Path(scratch) / "tree"
        # The folder ends the project here, wherever the trees are kept.
        (tree / ".git").mkdir(parents=True)
        for path, content in zip(files, _contents(git, list(files.values())), strict=True):
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_bytes(content)
        try:
            tree.rename(target)
        except OSError:
            # Another run on the same folder was faster; its tree is as good.
            if not target.is_dir():
                raise


def _contents(git: Path, blobs: list[str]) -> Iterator[bytes]:
    answer = _git(git, "cat-file", "--batch", given="".join(f"{blob}\n" for blob in blobs).encode())
    position = 0
    for blob in blobs:
        end = answer.index(b"\n", position)
        words = answer[position:end].split()
        if words[-1] == b"missing":
            raise NotAvailable(f"{git} has no blob {blob}")
        size = int(words[-1])
        yield answer[end + 1 : end + 1 + size]
        position = end + 2 + size


def _git(git: Path, *words: str, given: bytes = b"") -> bytes:
    # The directory was copied by whoever mirrors it, and may belong to somebody else.
    environment = {
        **os.environ,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }
    command = ["git", "--git-dir", str(git), *words]
    run = subprocess.run(command, input=given, env=environment, capture_output=True, check=False)
    if run.returncode:
        raise NotAvailable(f"git {words[0]} in {git}: {run.stderr.decode('utf-8', 'replace').strip()}")
    return run.stdout
