"""Whether a file may hold a suppression at all: the question every file is asked, so it costs next to nothing.

Substrings only, no imports: a run over files without suppressions never loads the modules that read them. Too
generous at worst; `nanlint.source.comments` decides.
"""

from __future__ import annotations


def mentions_suppression(source: str | bytes, *, blanket_noqa: bool = False) -> bool:
    """False when `source` holds no suppression that matters.

    A `noqa` of other tools' codes never matters. One without codes matters only if something was found, which is what
    `blanket_noqa` says: it can quiet a finding, but is never called unused.
    """
    # Latin-1 keeps every ASCII byte where it is, and costs a copy.
    folded = source.decode("latin-1").lower() if isinstance(source, bytes) else source.lower()
    if "nanlint" in folded:
        return True
    place = folded.find("noqa")
    while place >= 0:
        end = folded.find("\n", place)
        end = len(folded) if end < 0 else end
        if blanket_noqa or "nan" in folded[place:end]:
            return True
        place = folded.find("noqa", end)
    return False
