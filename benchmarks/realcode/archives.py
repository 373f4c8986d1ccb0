"""Released archives of Python packages: found in an index or a folder, checked, and unpacked without building.

`pip download` runs the build backend of an sdist to learn its metadata, which fails for many old releases and runs
strangers' code. Only the files are wanted here, so the index's page is read directly; no code of a package ever runs.
"""

from __future__ import annotations

import hashlib
import os
import re
import tarfile
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

DEFAULT_WORK = Path.home() / ".cache" / "nanlint-benchmarks"
SDIST_ENDINGS = (".tar.gz", ".tgz", ".tar.bz2", ".zip")
TIMEOUT_SECONDS = 180

# Cases run side by side and may need the same release.
_ONE_AT_A_TIME = threading.Lock()


class NotAvailable(Exception):  # noqa: N818 - it reads as the sentence it prints
    """A release that the index does not have, or that could not be fetched."""


@dataclass(frozen=True, slots=True)
class Release:
    """One archive of one version of a package. `kind` is wheel, sdist, or any (wheel first)."""

    name: str
    version: str
    kind: str = "any"
    rules: str = ""
    """The beginnings of the codes that are measured on it, with commas between; empty for all."""

    @property
    def folder(self) -> str:
        """The name of the folder it is unpacked into."""
        return f"{self.name}-{self.version}"


@dataclass(frozen=True, slots=True)
class Link:
    """One file that an index offers."""

    filename: str
    url: str
    sha256: str = ""


def unpacked(release: Release, work: Path, wheels: Path | None = None) -> Path:
    """The folder with the release's files, `work/<name>-<version>`; fetched and unpacked unless it is there."""
    target = work / release.folder
    with _ONE_AT_A_TIME:
        if not target.is_dir():
            archive = (
                _local(release, work / "archives") or _local(release, wheels) or _download(release, work / "archives")
            )
            try:
                _unpack_into_place(archive, target)
            except (tarfile.TarError, zipfile.BadZipFile, OSError) as error:
                raise NotAvailable(f"{archive.name} could not be unpacked: {error}") from error
    return target


def _unpack_into_place(archive: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    # Unpacked beside its place and renamed, so that an interrupted run leaves no half of a tree behind.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".unpack-") as scratch:
        unpack(archive, Path(scratch) / "tree")
        try:
            (Path(scratch) / "tree").rename(target)
        except OSError:
            # Another run on the same folder was faster; its tree is as good.
            if not target.is_dir():
                raise


def unpack(archive: Path, target: Path) -> None:
    """The files of a wheel or sdist under `target`; of an sdist without its own top folder."""
    target.mkdir(parents=True)
    if archive.suffix in {".whl", ".zip"}:
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(target)  # noqa: S202 - zipfile keeps every member below the target
    else:
        with tarfile.open(archive) as sdist:
            sdist.extractall(target, filter="data")
    if not archive.name.endswith(".whl"):
        _drop_top_folder(target)


def _drop_top_folder(target: Path) -> None:
    entries = [entry for entry in target.iterdir() if entry.name != "pax_global_header"]
    if len(entries) != 1 or not entries[0].is_dir():
        return
    # The top folder may hold an entry of its own name (a package `x` in `x/`), so it steps aside first.
    top = entries[0].rename(target / ".top")
    for entry in list(top.iterdir()):
        entry.rename(target / entry.name)
    top.rmdir()


def _local(release: Release, folder: Path | None) -> Path | None:
    if folder is None or not folder.is_dir():
        return None
    links = [Link(entry.name, "") for entry in sorted(folder.iterdir())]
    chosen = choose(release, links)
    return folder / chosen.filename if chosen else None


def choose(release: Release, links: list[Link]) -> Link | None:
    """The file to take: of the right kind and version, wheels first, those for any machine before the others."""
    fitting = [link for link in links if fits(release, link.filename)]
    wheels = [link for link in fitting if link.filename.endswith(".whl")]
    sdists = [link for link in fitting if not link.filename.endswith(".whl")]
    # Only the .py files matter, so a wheel of any machine serves; Linux before others to have one answer everywhere.
    wheels.sort(key=lambda link: ("-none-any" not in link.filename, "linux" not in link.filename, link.filename))
    wanted = {"wheel": wheels, "sdist": sdists, "any": wheels + sdists}[release.kind]
    return wanted[0] if wanted else None


def fits(release: Release, filename: str) -> bool:
    """Whether `filename` is an archive of just this name and version."""
    if filename.endswith(".whl"):
        name, version = filename.split("-")[:2]
    else:
        ending = next((ending for ending in SDIST_ENDINGS if filename.endswith(ending)), "")
        name, _, version = filename.removesuffix(ending).rpartition("-")
        if not ending:
            return False
    return normal(name) == normal(release.name) and version.lower() == release.version.lower()


def normal(name: str) -> str:
    """A package name as the index compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _download(release: Release, folder: Path) -> Path:
    link = choose(release, _offered(release.name))
    if link is None:
        raise NotAvailable(f"the index has no {release.kind} archive of {release.name} {release.version}")
    try:
        with urllib.request.urlopen(link.url, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 - the index's own link
            data: bytes = answer.read()
    except (urllib.error.URLError, TimeoutError) as error:
        raise NotAvailable(f"{link.filename} could not be fetched: {error}") from error
    if link.sha256 and hashlib.sha256(data).hexdigest() != link.sha256:
        raise NotAvailable(f"{link.filename} does not have the hash that the index states")
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f".{link.filename}.part"
    part.write_bytes(data)
    return part.rename(folder / link.filename)


def _offered(name: str) -> list[Link]:
    page = f"{index_url().rstrip('/')}/{normal(name)}/"
    request = urllib.request.Request(page, headers={"Accept": "text/html"})  # noqa: S310 - pip's own index
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 - as above
            text = answer.read().decode("utf-8")
    except (urllib.error.URLError, TimeoutError) as error:
        raise NotAvailable(f"the index does not answer for {name}: {error}") from error
    reader = _Links(page)
    reader.feed(text)
    return reader.links


def index_url() -> str:
    """The index that pip uses: PIP_INDEX_URL, else pip's own default."""
    given = os.environ.get("PIP_INDEX_URL")
    if given:
        return given
    try:
        from pip._internal.models.index import PyPI  # noqa: PLC0415 - not every environment has pip
    except ImportError as error:
        raise NotAvailable("there is no pip here to name the package index; set PIP_INDEX_URL") from error
    return str(PyPI.simple_url)


class _Links(HTMLParser):
    """The links of an index page (PEP 503): the file's name is the text's last part, its hash the fragment."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self._page = page
        self.links: list[Link] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if tag != "a" or not href:
            return
        url, _, fragment = urllib.parse.urljoin(self._page, href).partition("#")
        filename = urllib.parse.unquote(url.rpartition("/")[2])
        self.links.append(
            Link(filename, url, fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else "")
        )
