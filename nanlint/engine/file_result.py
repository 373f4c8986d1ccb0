"""What checking one file gives: what the cache stores and the report shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanlint.model import FileError, Finding


class FileResult:
    """One file's findings and errors. No dataclass: a run that finds nothing does not import those."""

    __slots__ = ("consulted", "digest", "errors", "findings", "has_company", "hidden", "noqa", "quiet")

    def __init__(
        self,
        findings: list[Finding] | None = None,
        errors: list[FileError] | None = None,
        *,
        quiet: int = 0,
        noqa: bool = False,
        digest: str = "",
    ) -> None:
        self.findings = findings or []
        self.errors = errors or []
        self.hidden: list[Finding] = []
        """Findings below the severity that is shown: counted, and kept by a baseline."""
        self.quiet = quiet
        """How many findings a suppression kept out."""
        self.noqa = noqa
        """Whether a `# noqa` that names our codes kept one out."""
        self.digest = digest
        """The hash of the bytes that were checked; empty if they could not be read, or do not tell everything."""
        self.consulted: dict[str, str] = {}
        """The other files that were looked at or looked for -> the hashes of their bytes, "" for none."""
        self.has_company = False
        """Whether other files were looked at, too."""
