"""Everything that can go wrong, and the exit code each kind leads to.

    NanlintError                  the run itself failed: exit code 2, one line on stderr
    ├── UsageError                the command line asks for something that is not there
    ├── SettingsError             a config file: names the file, the line, the key and the next step
    ├── RuleContractError         a rule file (often a user's own) breaks the contract of nanlint.rule
    ├── UnreadableSource          one file cannot be read as source (nanlint.source.read)
    ├── UnreadableCheckpoint      one file cannot be read as a saved state (nanlint.checkpoint.reading)
    └── UnwritableSource          one file cannot be written (nanlint.source.read)

What is wrong with one file among many does not end the run: the last two become a `FileError` in the report
(nanlint.model), and the other files are checked all the same.
"""

from __future__ import annotations

import enum


class ExitCode(enum.IntEnum):
    """What the shell is told."""

    CLEAN = 0
    FINDINGS = 1
    FAILED = 2


class NanlintError(Exception):
    """The run cannot go on; the message is one line a user can act on."""


class UsageError(NanlintError):
    """The command line asks for something that is not there."""


class SettingsError(NanlintError):
    """A settings file is wrong; the message names file, line, key and the nearest right key."""


class RuleContractError(NanlintError):
    """A rule file breaks the contract of `nanlint.rule`."""
