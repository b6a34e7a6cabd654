"""What a good teacher would see: planted bugs are found with their cause at its node, right programs are left alone.

What the engine said of the smaller ones is kept for the rooms without torch (tests/helpers/recordings.py).
"""

import pytest
import torch

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.finding_sources import every_finding
from gradstudio.advice.diagnosis.run_diagnosis import RunDiagnosis
from gradstudio.advice.fixes.finding_fixes import finding_fixes
from gradstudio.advice.run_problems import RunRecorder
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Failed, Warned
from tests.advice.diagnosed import TOLD
from tests.advice.teaching_programs import (
    RECORDINGS,
    Teaching,
    Told,
    alarms,
    is_found,
    programs,
    recorder_of,
    told_of,
    ways_out,
)
from tests.engine.conftest import Bench
from tests.helpers import recordings

PLANTED, RIGHT = programs("planted"), programs("right")
MISSED = frozenset(
    {
        "autoencoder_detached_code",
    }
)
"""Planted bugs that are known not to be found."""
ALARMED: frozenset[str] = frozenset()
"""Right programs that are known to be warned about."""


def _name(program: Teaching) -> str:
    return program.name


def _heard(graph: Graph) -> list[Message]:
    """What an engine of this process says of a run."""
    bench = Bench()
    torch.manual_seed(0)
    bench.run(compile_graph(graph))
    return [event for event in bench.events if isinstance(event, TOLD | Failed | Warned)]


def _told_by_torch(program: Teaching) -> list[Told]:
    """Run a program on an engine of this process; what is told of a kept run must be told of this one."""
    graph = read_script(program.text).graph
    heard = _heard(graph)
    told = told_of(graph, heard)
    _settle(program, graph, heard, told)
    return told


def _settle(program: Teaching, graph: Graph, heard: list[Message], told: list[Told]) -> None:
    kept = recordings.settled_run(f"{RECORDINGS}/{program.name}", heard)
    if kept is not None:
        assert _without_figures(told_of(graph, kept)) == _without_figures(told), "record anew"


def _without_figures(told: list[Told]) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """The figures in titles are those of one processor."""
    return [(one.address, one.problem.kind, one.problem.severity, one.problem.fixes) for one in told]


def test_there_are_enough_of_them_and_each_has_a_name_of_its_own() -> None:
    names = [program.name for program in (*PLANTED, *RIGHT)]
    assert len(names) == len(set(names))
    assert (len(PLANTED) >= 40, len(RIGHT) >= 60) == (True, True)
    assert len(MISSED) <= 0.1 * len(PLANTED)
    assert len(ALARMED) <= 0.02 * len(RIGHT)


@pytest.mark.parametrize("program", PLANTED, ids=_name)
def test_a_planted_bug_is_told_of_by_its_cause_at_its_node(program: Teaching) -> None:
    told = _told_by_torch(program)
    assert is_found(program, told) == (program.name not in MISSED), [
        f"{one.problem.severity} {one.address}: {one.problem.title}" for one in told
    ]


@pytest.mark.parametrize("program", RIGHT, ids=_name)
def test_of_a_right_program_nothing_more_than_a_note_is_told(program: Teaching) -> None:
    found = alarms(_told_by_torch(program))
    assert bool(found) == (program.name in ALARMED), found


MENDED = {
    "step_first_in_the_turn": "Move step behind the backward",
    "step_before_backward": "Move step behind the backward",
    "step_before_backward_in_a_function": "Move step behind the backward",
    "step_a_turn_late": "Move opt.step() behind the backward",
    "zero_grad_before_step": "Zero the gradients behind step",
    "step_behind_the_loop": "Move step behind the backward, into its loop",
    "clip_behind_the_step": "Move clip_grad_norm_ behind the backward",
    "train_function_without_zero": "Zero the gradients before this backward (opt.zero_grad())",
    "hidden_not_detached": "Carry h.detach() into the next turn",
    "log_inside_a_class": "Keep h above 0 (clamp(min=1e-08))",
}


@pytest.mark.parametrize(("name", "title"), MENDED.items(), ids=MENDED)
def test_one_step_leads_from_a_planted_bug_to_a_right_program(name: str, title: str) -> None:
    (program,) = (one for one in PLANTED if one.name == name)
    graph = read_script(program.text).graph
    heard = _heard(graph)
    fix = next(fix for fix in ways_out(graph, heard) if fix.title == title)
    apply_all(graph, fix.edits or ())
    assert alarms(told_of(graph, _heard(graph))) == []


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("sum_of_squares_over_all_rows", "Take the mean"),
        ("momentum_above_one", "Set momentum to 0.9"),
        ("learning_rate_too_high", "Set lr to"),
        ("adam_lr_huge", "Set lr to"),
    ],
)
def test_what_is_offered_where_a_loss_diverges_ends_it(name: str, title: str) -> None:
    (program,) = [one for one in PLANTED if one.name == name]
    graph = read_script(program.text).graph
    fix = next(fix for fix in ways_out(graph, _heard(graph)) if fix.title.startswith(title))
    assert fix.edits is not None
    apply_all(graph, fix.edits)
    assert not [one for one in told_of(graph, _heard(graph)) if one.problem.kind == "diverges"]


def test_where_inputs_are_not_normalised_no_rate_is_offered() -> None:
    (program,) = [one for one in PLANTED if one.name == "house_areas_as_they_are"]
    graph = read_script(program.text).graph
    assert not ways_out(graph, _heard(graph))


def test_a_nan_in_the_data_is_not_born_again_where_gradients_are_clipped() -> None:
    (program,) = [one for one in PLANTED if one.name == "constant_column_normalised_before_a_clip"]
    graph = read_script(program.text).graph
    assert len(alarms(told_of(graph, _heard(graph)))) == 1


KEPT = [program for program in PLANTED if recordings.is_kept(f"{RECORDINGS}/{program.name}")]


@pytest.mark.parametrize("program", KEPT, ids=_name)
def test_whatever_is_offered_for_an_alarm_takes_it_away(program: Teaching) -> None:
    graph = read_script(program.text).graph
    recorder = recorder_of(recordings.kept_run(f"{RECORDINGS}/{program.name}"))
    for finding in _findings(graph, recorder):
        for fix in finding_fixes(finding, graph):
            mended = graph.copy()
            apply_all(mended, fix.edits or ())
            left = _findings(mended, recorder_of(_heard(mended)))
            assert (finding.kind, finding.node) not in {(one.kind, one.node) for one in left}, fix.title


def _findings(graph: Graph, recorder: RunRecorder) -> list[Finding]:
    """The alarms among what is found in a run."""
    found = every_finding(graph, recorder.value, RunDiagnosis(recorder.timeline), recorder.gradients())
    return [one for one in found if one.severity != "info"]
