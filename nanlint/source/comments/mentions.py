"""Whether a file may hold a suppression at all: the question every file is asked, so it costs next to nothing.

Substrings only, no imports: a run over files without suppressions never loads the modules that read them. Too
generous at worst; `nanlint.source.comments.suppressions` decides.
"""

from __future__ import annotations


def mentions_suppression(source: str | bytes, *, blanket_noqa: bool = False) -> bool:
    """False when `source` holds no suppression that matters.

    A `noqa` of other tools' codes never matters. One without codes matters only if something was found, which is what
    `blanket_noqa` says: it can quiet a finding, but is never called unused.
    """
    # Bytes fold their ASCII letters in one pass; str.lower is ten times slower on text that holds one accent.
    folded = (source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")).lower()
    if b"nanlint" in folded:
        return True
    place = folded.find(b"noqa")
    while place >= 0:
        end = folded.find(b"\n", place)
        end = len(folded) if end < 0 else end
        if blanket_noqa or b"nan" in folded[place:end]:
            return True
        place = folded.find(b"noqa", end)
    return False
