"""The published JSON Schema of the file, made from the records of `document.gsg.file_records`.

``python -m gradstudio.document.gsg.schema > resources/schema/graph-v1.json`` writes it anew; a test
compares the two.
"""

import inspect
import json
import sys
from typing import Any

import msgspec

from gradstudio.document.gsg.file_records import VERSION, GraphFile

FILE_NAME = f"graph-v{VERSION}.json"


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a `.gsg` file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_dedented(msgspec.json.schema(GraphFile))}


def _dedented(part: Any) -> Any:
    """With descriptions as Python 3.13 and msgspec 0.23 have them; those before kept the indentation of the source."""
    if isinstance(part, dict):
        return {
            key: inspect.cleandoc(value) if key == "description" and isinstance(value, str) else _dedented(value)
            for key, value in part.items()
        }
    return [_dedented(one) for one in part] if isinstance(part, list) else part


def text() -> str:
    """The schema as it is published."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
