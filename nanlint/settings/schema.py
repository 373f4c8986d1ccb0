"""The published JSON schema of the settings; `python -m nanlint.settings.schema` writes it anew."""

from __future__ import annotations

import json
from pathlib import Path

from nanlint.settings.models import Options

SCHEMA_FILE = Path(__file__).with_name("schema.json")


def schema_text() -> str:
    """The schema as the file must hold it."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Options.model_json_schema(by_alias=True),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
