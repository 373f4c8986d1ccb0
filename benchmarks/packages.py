"""The packages that nanlint is measured on and the tools that it is measured against: pinned, fetched, unpacked.

Everything goes into one working folder and is kept there for the next run.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_WORK = Path("~/.cache/nanlint-benchmarks")


@dataclass(frozen=True)
class Package:
    """A wheel with PyTorch code, and the folder in it that is checked."""

    name: str
    version: str
    folder: str

    @property
    def wheel(self) -> str:
        """How its file name begins."""
        return f"{self.name.replace('-', '_')}-{self.version}-"


TRANSFORMERS = Package("transformers", "5.22.2", "transformers")
TIMM = Package("timm", "1.0.30", "timm")
X_TRANSFORMERS = Package("x-transformers", "2.31.10", "x_transformers")
PACKAGES = (TRANSFORMERS, TIMM, X_TRANSFORMERS)

# TorchFix pins a libcst of its own, so each tool lives alone.
PEERS = {"ruff": "ruff==0.17.4", "TorchFix": "torchfix==0.7.*", "Fixit": "fixit==2.2.*"}


@dataclass(frozen=True)
class Source:
    """An unpacked package."""

    package: Package
    folder: Path

    def files(self) -> list[Path]:
        """Its Python files."""
        return sorted(self.folder.rglob("*.py"))

    def lines(self) -> int:
        """How many lines its Python files have."""
        return sum(path.read_bytes().count(b"\n") for path in self.files())


class Workshop:
    """The working folder: wheels, unpacked packages, virtual environments, caches."""

    def __init__(self, work: Path, wheels: Path | None = None) -> None:
        self.work = work.expanduser().resolve()
        self._wheels = wheels or self.work / "wheels"
        self.work.mkdir(parents=True, exist_ok=True)

    def source(self, package: Package) -> Source:
        """The package, unpacked afresh: what an earlier run changed in it is undone."""
        return self.unpack(self._wheel(package), package)

    def unpack(self, wheel: Path, package: Package) -> Source:
        """The contents of `wheel` in the working folder."""
        target = self.work / "packages" / f"{package.name}-{package.version}"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
        return Source(package, target / package.folder)

    def _wheel(self, package: Package) -> Path:
        found = sorted(self._wheels.glob(f"{package.wheel}*.whl"))
        if not found:
            wanted = f"{package.name}=={package.version}"
            options = ("--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(self._wheels))
            subprocess.run([sys.executable, "-m", "pip", "download", *options, wanted], check=True)
            found = sorted(self._wheels.glob(f"{package.wheel}*.whl"))
        return found[0]

    def tool(self, name: str, requirement: str) -> Path:
        """The folder of executables of a virtual environment that holds `requirement` and what it needs."""
        folder = self._tools(sys.executable) / name.lower()
        done = folder / "installed.txt"
        if not done.exists() or done.read_text() != requirement:
            _make_environment(sys.executable, folder)
            self._pip(folder, requirement)
            done.write_text(requirement)
        return folder / "bin"

    def nanlint(self, python: str = sys.executable) -> Path:
        """The folder of executables of a virtual environment that holds this checkout as users get it: as a wheel."""
        folder = self._tools(python) / "nanlint"
        if not (folder / "bin" / "nanlint").exists():
            _make_environment(python, folder)
            self._pip(folder, str(ROOT))
        self._pip(folder, "--force-reinstall", "--no-deps", str(ROOT))
        return folder / "bin"

    def _tools(self, python: str) -> Path:
        """Where the tools of an interpreter go; those of the same version may have been compiled in different ways."""
        return self.work / "tools" / hashlib.sha1(python.encode(), usedforsecurity=False).hexdigest()[:8]

    def _pip(self, folder: Path, *words: str) -> None:
        subprocess.run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *words], check=True)


def _make_environment(python: str, folder: Path) -> None:
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)


def version_of(executables: Path, distribution: str) -> str:
    """The installed version of a distribution."""
    return _said_by(executables, f"from importlib.metadata import version; print(version({distribution!r}))")


def python_of(executables: Path) -> str:
    """The interpreter's implementation and version."""
    return _said_by(executables, "from platform import *; print(python_implementation(), python_version())")


def _said_by(executables: Path, program: str) -> str:
    words = [str(executables / "python"), "-c", program]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
