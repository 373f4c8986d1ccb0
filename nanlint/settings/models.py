"""What the user may write in `nanlint.toml` or under `[tool.nanlint]`, as pydantic models.

The models judge types and known words only. Codes of rules are judged by the rulebook, which knows the rules. The
descriptions are published: `schema.json` beside this file is generated from them.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from nanlint.settings.globs import compile_glob
from nanlint.settings.resolved import DEFAULT_EXCLUDE, DEFAULT_INCLUDE, FormatName, OutputFormat, SeverityName


def _well_formed(glob: str) -> str:
    compile_glob(glob.removeprefix("!"))
    return glob


Glob = Annotated[str, AfterValidator(_well_formed)]


def _without_default(schema: dict[str, Any]) -> None:
    """For settings whose default is decided elsewhere: only what was stated is read from the model."""
    schema.pop("default")


def kebab_case(name: str) -> str:
    """The TOML key of a field."""
    return name.replace("_", "-")


class RuleOptions(BaseModel):
    """The options of one rule; which ones a rule has, its page says."""

    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, JsonValue]

    severity: SeverityName = Field(
        default="warning",
        description="The severity its findings get, whatever the rule says.",
        json_schema_extra=_without_default,
    )


class ConfirmInputs(BaseModel):
    """How confirm calls one function: `ctor` for the constructor, every other key for an argument of the call."""

    model_config = ConfigDict(extra="allow", strict=True)
    __pydantic_extra__: dict[str, JsonValue]

    ctor: dict[str, JsonValue] = Field(default={}, description="Arguments of the constructor, by name.")


class Options(BaseModel):
    """Settings of nanlint."""

    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=kebab_case, title="nanlint")

    extend: str = Field(
        default="",
        description="Another nanlint.toml or pyproject.toml to inherit from, relative to this file. Lists are replaced, "
        "extend-* lists and tables are merged.",
    )
    select: list[str] = Field(
        default=[],
        description="Rules to run, by code (NAN101), prefix (NAN1) or name. Empty: all rules that are on by default.",
    )
    extend_select: list[str] = Field(default=[], description="Rules to run besides the selected ones.")
    ignore: list[str] = Field(default=[], description="Rules not to run, by code, prefix or name.")
    preview: bool = Field(default=False, description="Run the rules that are still in preview, too.")
    formats: list[FormatName] = Field(
        default=[],
        description="The float formats that the project runs in. Empty: those that its code and its configs switch on.",
    )
    severity: SeverityName = Field(default="warning", description="The mildest severity that is shown.")
    fail_on: SeverityName = Field(
        default="info", description="The mildest severity, among those shown, that makes the exit code 1."
    )
    include: list[Glob] = Field(
        default=list(DEFAULT_INCLUDE), description="Globs of the files that are checked when a folder is walked."
    )
    exclude: list[Glob] = Field(
        default=list(DEFAULT_EXCLUDE),
        description="Globs of files and folders that are left out. A glob with a slash is relative to this file.",
    )
    extend_exclude: list[Glob] = Field(default=[], description="Globs to leave out besides those of exclude.")
    force_exclude: bool = Field(
        default=False, description="Leave excluded files out even when they are named on the command line."
    )
    respect_gitignore: bool = Field(
        default=True, description="Leave out what .gitignore, .ignore and .git/info/exclude leave out."
    )
    per_file_ignores: dict[Glob, list[str]] = Field(
        default={},
        description="Globs of files, each with the rules that are not run there. A leading ! means every other file.",
    )
    rules: dict[str, RuleOptions] = Field(default={}, description="Options of single rules, by code or name.")
    confirm: dict[str, ConfirmInputs] = Field(
        default={},
        description="Arguments with which confirm runs a function, by its name (pkg.mod:Class.forward): a plain value, or "
        "a table with shape, and perhaps dtype and domain.",
    )
    local_rules: list[str] = Field(
        default=[], description="Folders with rules of your own, relative to this file; same contract as ours."
    )
    baseline: str = Field(default="", description="File of known findings that are kept quiet, relative to this file.")
    cache_dir: str = Field(
        default="", description="Folder of the cache, relative to this file. Empty: .nanlint_cache beside this file."
    )
    output_format: OutputFormat = Field(
        default="full",
        description="How findings are printed. Unset: full on a terminal, concise otherwise.",
        json_schema_extra=_without_default,
    )
    fix: bool = Field(default=False, description="Apply safe fixes.")
    unsafe_fixes: bool = Field(default=False, description="Apply unsafe fixes, too, where fixes are applied.")
