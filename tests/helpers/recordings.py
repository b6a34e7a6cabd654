"""What the real engine said of a program, kept as JSON: with it rooms are tested that know no torch.

`GRADSTUDIO_RECORD=1 .venv/bin/python -m pytest -q -n 0 tests/engine/test_fixes_against_torch.py
tests/engine/test_diagnosis.py tests/engine/test_timeline_of_runs.py tests/engine/test_teaching_programs.py` writes all
of them anew; without the variable the same tests compare what was concluded from the recording with what is concluded
from torch. Whole trainings are kept packed, without their times, and only those that are small.
"""

import json
import lzma
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
LARGEST_BYTES = 18_000
"""A packed run that is larger is not kept."""
TIMES = frozenset({"seconds", "at_s"})


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


def settled_run(name: str, events: Iterable[Message]) -> tuple[Message, ...] | None:
    """The kept run of a program, written anew when asked to; None where it is too large to be kept."""
    file = _packed(name)
    if os.environ.get(VARIABLE):
        plain = [msgspec.to_builtins(event, builtin_types=(bytes,)) for event in events]
        packed = lzma.compress(msgspec.msgpack.encode(_without_times(plain)))
        file.unlink(missing_ok=True)
        if len(packed) <= LARGEST_BYTES:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(packed)
    return kept_run(name) if is_kept(name) else None


def kept_run(name: str) -> tuple[Message, ...]:
    """What the engine said when a program ran."""
    return tuple(msgspec.msgpack.decode(lzma.decompress(_packed(name).read_bytes()), type=list[Event]))


def is_kept(name: str) -> bool:
    """Whether there is a run of that name."""
    return _packed(name).exists()


def _packed(name: str) -> Path:
    return TESTS / f"{name}.msgpack.xz"


def _without_times(value: object) -> object:
    """Plain data without times, so that a run that is recorded anew differs in what differs.

    Elements that are listed need no preview.
    """
    match value:
        case dict():
            left = TIMES | {"preview"} if value.get("value") is not None else TIMES
            return {key: _without_times(one) for key, one in value.items() if key not in left}
        case list() | tuple():
            return [_without_times(one) for one in value]
        case _:
            return value


def _write(file: Path, events: Iterable[Message], concluded: object, ids: Sequence[str]) -> None:
    data = {"concluded": concluded, "events": [msgspec.to_builtins(event, str_keys=True) for event in events]}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for place, item in enumerate(ids):
        text = text.replace(f'"{item}"', f'"item {place}"')
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n")
