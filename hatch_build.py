"""The one step of a build that hatchling cannot do alone: the cards of the rules, for a wheel whose runs start quickly.

`nanlint/engine/rules/cards.py` says what they are. An editable installation has none, because its rules change.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CardsHook(BuildHookInterface):
    """Adds the cards to the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the cards of the rules as they are now, with the code that is built."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        cards = Path(self._folder.name) / "_cards.py"
        # The code that is built, not an installed one; and a build leaves no bytecode in the sources (-B).
        command = [sys.executable, "-B", "-m", "nanlint.engine.rules.write_cards", str(cards)]
        subprocess.run(command, cwd=self.root, env={**os.environ, "PYTHONPATH": self.root}, check=True)
        build_data["force_include"][str(cards)] = "nanlint/rules/_cards.py"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Take the written file away again."""
        del build_data, artifact_path
        if version != "editable":
            self._folder.cleanup()
