"""Rules that a repository brings along are code of somebody else's: they run only when the user has allowed it."""

# pathlib is not imported by any command that a hook runs.
# ruff: noqa: PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TextIO

from nanlint.sealed import user_folder
from nanlint.settings import SettingsFinder
from nanlint.settings.user import ALLOW_RULES

if TYPE_CHECKING:
    import argparse

    from nanlint.settings import Settings


def add_permission(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """The flag by which the user allows it for this run."""
    parser.add_argument(
        "--allow-local-rules",
        action="store_true",
        help=f"run the rules that `local-rules` in the settings names: code of the repository (or {ALLOW_RULES}=1)",
    )


def settings_here(options: argparse.Namespace, err: TextIO) -> Settings:
    """The settings of the working directory, for a command that lists rules."""
    finder = SettingsFinder({}, allow_local_rules=options.allow_local_rules)
    settings = finder.for_directory(".")
    say_left_out(finder, err)
    return settings


def say_left_out(finder: SettingsFinder, err: TextIO) -> None:
    """One line if rules were left out: which settings name them, and how to allow them."""
    if finder.left_out:
        named = ", ".join(sorted(set(finder.left_out)))
        own = os.path.join(user_folder("config"), "config.toml")
        err.write(
            f"nanlint: left out the local rules that {named} names, because they are code of the checked repository. "
            f"To run them: --allow-local-rules, {ALLOW_RULES}=1, or `trusted` in {own}\n"
        )
