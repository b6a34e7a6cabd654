"""The memory in which ranks agree is handed down as an open file; without it they go on."""

import mmap
import os
import tempfile
from pathlib import Path

import pytest

from gradstudio.engine.turns.shared_turns import SharedTurns
from gradstudio.protocol.process_group import RUNS_CODE, TURNS_BYTES, turns_file_of
from gradstudio.protocol.ranks.turns_memory import turns_memory


def _refused(*_: object) -> int:
    raise PermissionError("no memory")


def test_what_the_first_rank_says_the_others_take() -> None:
    with turns_memory([RUNS_CODE], 2) as options:
        descriptor = turns_file_of(options)
        assert descriptor is not None and options[0] == RUNS_CODE
        first, other = SharedTurns(), SharedTurns()
        first.open(descriptor, leads=True)
        other.open(descriptor, leads=False)
    first.announce([(3,), (5, 1)])
    assert other.has_news() and other.take() == ((3,), (5, 1)) and not other.has_news()


def test_one_alone_has_none() -> None:
    with turns_memory([RUNS_CODE], 1) as options:
        assert options == [RUNS_CODE]


def test_ranks_start_without_it_where_the_system_gives_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "memfd_create", _refused, raising=False)
    monkeypatch.setattr(tempfile, "TemporaryFile", _refused)
    with turns_memory([RUNS_CODE], 2) as options:
        assert options == [RUNS_CODE]


@pytest.mark.parametrize("kind", ["none", "not to be written", "too short"])
def test_a_rank_that_cannot_have_it_goes_by_no_clock_and_hears_nothing(tmp_path: Path, kind: str) -> None:
    path, turns = tmp_path / "file", SharedTurns()
    path.write_bytes(bytes(TURNS_BYTES if kind == "not to be written" else 1))
    descriptor = os.open(path, os.O_RDONLY if kind == "not to be written" else os.O_RDWR)
    try:
        if kind != "none":
            with pytest.raises((OSError, ValueError)):
                mmap.mmap(descriptor, TURNS_BYTES)
        turns.open(None if kind == "none" else descriptor, leads=True)
    finally:
        os.close(descriptor)
    turns.announce([(3,)])
    assert turns.is_open and not turns.leads and not turns.has_news() and turns.take() == ()
