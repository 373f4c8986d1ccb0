"""The tar files that torch wrote before 2017: refused, but what their pickles would import is told."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

from nanlint.checkpoint.pickles import note_imports
from nanlint.checkpoint.region import RegionFile

if TYPE_CHECKING:
    from nanlint.checkpoint.region import Region

MOST_MEMBERS = 100
"""torch wrote four."""


def note_imports_of_tar(region: Region) -> None:
    """Note the imports of every pickle in the members, several in a row if there are."""
    try:
        with tarfile.open(fileobj=io.BufferedReader(RegionFile(region)), mode="r:") as archive:
            for _, member in zip(range(MOST_MEMBERS), archive, strict=False):
                _note(region.part(member.offset_data, member.size, "a member"))
    except (tarfile.TarError, OSError, ValueError, EOFError):
        return  # it is refused anyway


def _note(member: Region) -> None:
    at = 0
    while at < len(member):
        at = note_imports(member, at)
