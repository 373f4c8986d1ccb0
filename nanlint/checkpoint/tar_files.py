"""The tar files that torch wrote before 2017: refused, but what their pickles would import is told."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

from nanlint.checkpoint.pickles import imports_of
from nanlint.checkpoint.region import Region, RegionFile

if TYPE_CHECKING:
    from nanlint.checkpoint.reading import Reading

MOST_MEMBERS = 100
"""torch wrote four."""


def imports_of_tar(region: Region, reading: Reading) -> None:
    """Note the imports of every pickle in the members, several in a row if there are."""
    try:
        with tarfile.open(fileobj=io.BufferedReader(RegionFile(region)), mode="r:") as archive:
            for _, member in zip(range(MOST_MEMBERS), archive, strict=False):
                _imports_of(region.part(member.offset_data, member.size, f"the member {member.name}"), reading)
    except (tarfile.TarError, OSError, ValueError, EOFError):
        return  # it is refused anyway


def _imports_of(member: Region, reading: Reading) -> None:
    at = 0
    while at < len(member):
        at = imports_of(member, reading, at)
