"""What the user wrote, and what we run with.

Light: importing this reads no file and imports neither pydantic nor tomllib. `models` is what may be written (and the
source of the published `schema.json`), `load` judges a file, `finder` decides which file holds for a path.
"""

from nanlint.settings.finder import SettingsFinder, settings_for
from nanlint.settings.resolved import (
    COMMAND_LINE,
    DEFAULT_EXCLUDE,
    DEFAULT_INCLUDE,
    OUTPUT_FORMATS,
    SEVERITIES,
    Settings,
)

__all__ = [
    "COMMAND_LINE",
    "DEFAULT_EXCLUDE",
    "DEFAULT_INCLUDE",
    "OUTPUT_FORMATS",
    "SEVERITIES",
    "Settings",
    "SettingsFinder",
    "settings_for",
]
