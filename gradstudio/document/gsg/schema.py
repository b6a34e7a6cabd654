"""The published JSON Schema of the file, made from the records of `document.gsg.file_records`.

``python -m gradstudio.document.gsg.schema > resources/schema/graph-v1.json`` writes it anew; a test
compares the two.
"""

import json
import sys
from typing import Any

import msgspec

from gradstudio.document.gsg.file_records import VERSION, GraphFile

FILE_NAME = f"graph-v{VERSION}.json"


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a `.gsg` file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(GraphFile)}


def text() -> str:
    """The schema as it is published."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
