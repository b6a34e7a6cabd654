"""What the real engine said of a program, kept as JSON: with it rooms are tested that know no torch.

`GRADSTUDIO_RECORD=1 .venv/bin/python -m pytest -q -n 0 tests/engine/test_fixes_against_torch.py
tests/engine/test_diagnosis.py tests/engine/test_timeline_of_runs.py` writes all of them anew; without the variable
the same tests compare what was concluded from the recording with what is concluded from torch.
"""

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from gradstudio.graph.model import Graph
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Event

TESTS = Path(__file__).parent.parent
VARIABLE = "GRADSTUDIO_RECORD"


class Recording(NamedTuple):
    """What the engine said, and what was concluded from it (plain JSON)."""

    events: tuple[Message, ...]
    concluded: object


def load(name: str, ids: Sequence[str] = ()) -> Recording:
    """A recording, with the ids of the program at hand.

    Args:
        name: path below `tests` without its ending, e.g. ``advice/recordings/mm``.
        ids: of the items, in the order in which they stood when it was recorded.
    """
    text = (TESTS / f"{name}.json").read_text()
    for place, item in enumerate(ids):
        text = text.replace(f'"item {place}"', f'"{item}"')
    data = json.loads(text)
    return Recording(tuple(msgspec.convert(data["events"], list[Event], str_keys=True)), data["concluded"])


def settle(name: str, events: Iterable[Message], concluded: object, ids: Sequence[str] = ()) -> None:
    """Compare with a recording what is concluded now; write it anew when asked to.

    Raises:
        AssertionError: the engine says something else than when it was recorded.
    """
    if os.environ.get(VARIABLE):
        _write(TESTS / f"{name}.json", events, concluded, ids)
    assert load(name, ids).concluded == json.loads(json.dumps(concluded)), f"record anew with {VARIABLE}=1"


def ids_of(graph: Graph) -> list[str]:
    """The ids of a drawing in the order in which they were drawn."""
    return [*graph.nodes, *graph.blocks]


def of_test(request: pytest.FixtureRequest, room: str) -> str:
    """The recording of a test, in the room's folder; each parameter of the test has one of its own."""
    words = re.sub(r"\W+", "_", request.node.name.removeprefix("test_")).strip("_")
    return f"{room}/recordings/runs/{words}"


def _write(file: Path, events: Iterable[Message], concluded: object, ids: Sequence[str]) -> None:
    data = {"concluded": concluded, "events": [msgspec.to_builtins(event, str_keys=True) for event in events]}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for place, item in enumerate(ids):
        text = text.replace(f'"{item}"', f'"item {place}"')
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n")
