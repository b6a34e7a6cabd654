"""What a good teacher would see: planted bugs are found with their cause at its node, right programs are left alone."""

import pytest

from tests.engine.teaching_programs import Teaching, alarms, is_found, programs, told_of

PLANTED, RIGHT = programs("planted"), programs("right")
MISSED: frozenset[str] = frozenset()
"""Planted bugs that are known not to be found."""
ALARMED: frozenset[str] = frozenset()
"""Right programs that are known to be warned about."""


def _name(program: Teaching) -> str:
    return program.name


def test_there_are_enough_of_them_and_each_has_a_name_of_its_own() -> None:
    names = [program.name for program in (*PLANTED, *RIGHT)]
    assert len(names) == len(set(names))
    assert (len(PLANTED) >= 40, len(RIGHT) >= 60) == (True, True)
    assert len(MISSED) <= 0.1 * len(PLANTED)
    assert len(ALARMED) <= 0.02 * len(RIGHT)


@pytest.mark.parametrize("program", PLANTED, ids=_name)
def test_a_planted_bug_is_told_of_by_its_cause_at_its_node(program: Teaching) -> None:
    told = told_of(program.text)
    assert is_found(program, told) == (program.name not in MISSED), [
        f"{one.problem.severity} {one.address}: {one.problem.title}" for one in told
    ]


@pytest.mark.parametrize("program", RIGHT, ids=_name)
def test_of_a_right_program_nothing_more_than_a_note_is_told(program: Teaching) -> None:
    found = alarms(told_of(program.text))
    assert bool(found) == (program.name in ALARMED), found
