"""What `run`, `check` and `info` do: an engine, documents one after another, reports. No Qt here."""

import argparse
import sys
import uuid
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from gradstudio.advice.check_summary import summary_json, summary_lines, verdict
from gradstudio.advice.diagnosis.graph_answers import checked, section_lines, sections_json
from gradstudio.advice.diagnosis.memory_shortage import size_explanation, size_title
from gradstudio.advice.explanation import SCRIPT_LINES, explain_words
from gradstudio.advice.model import Advice
from gradstudio.advice.problem_report import (
    advise,
    advise_refusal,
    failure_lines,
    holds_error,
    notices,
    port_json,
    port_lines,
    problem_json,
    problem_lines,
    problems_json,
    run_problem_lines,
    slow_words,
    values_bound,
    values_expected,
    warnings_json,
    with_cause,
    without_insides,
)
from gradstudio.advice.run_problems import RunRecorder
from gradstudio.advice.text_causes import describe_slips
from gradstudio.document import file as document_file
from gradstudio.document.errors import NothingToContinue, refusal_text
from gradstudio.document.opened_graph import OpenedGraph, Unreadable, open_file, stem_of
from gradstudio.graph import recipes
from gradstudio.graph.analysis import call_addresses, program_analysis
from gradstudio.graph.edits import SetHeader, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.file_lines import FileText, line_of_part, line_of_script
from gradstudio.program.model import Program, flatten_statements, has_backward
from gradstudio.program.module_names import module_names
from gradstudio.program.trust import untrusted_code
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.engine_on_demand import EngineOnDemand
from gradstudio.protocol.errors import BadRecord, EngineDied, ShapeTooLong
from gradstudio.protocol.messages.events import Event, Log
from gradstudio.protocol.messages.inference import Inferred, Inferring
from gradstudio.protocol.messages.progress import Running
from gradstudio.protocol.ranks.last_line import with_lines
from gradstudio.protocol.record_file import program_digest, read_record, record_beside
from gradstudio.protocol.report import clash_json, entries_json, printed_json, trace_json, wires_json
from gradstudio.protocol.report_table import report_table
from gradstudio.protocol.runner import Outcome, infer_program, runner_of, trace_program, trust_in, typed_line
from gradstudio.protocol.source_lines import map_lines, real_device, script_lines, with_device
from gradstudio.protocol.versions import installed_version

FINE, FAILED, UNREADABLE = 0, 1, 4
Json = dict[str, Any]
Result = tuple[int, Json, str]
"""Exit code, the report as data, the report as text."""


def run_files(options: argparse.Namespace) -> Iterator[Result]:
    """Run each file from nothing, here or on the host that is asked for; a result per file."""
    with EngineOnDemand(options.host, sends=options.send, ranks=options.processes) as engine:
        for name in options.files:
            yield _run_one(engine, name, options)


def check_files(options: argparse.Namespace) -> Iterator[Result]:
    """Say shapes and problems of each file without running it."""
    with EngineOnDemand() as engine:
        for name in options.files:
            yield _check_one(engine, name, options)


def recorded_or_traced(name: str, graph: Graph) -> list[Event]:
    """What was recorded of a document elsewhere, where the record beside it is of this very program, else of a run.

    Raises:
        EngineDied, NeedsTrust: as `trace_events`.
    """
    path = record_beside(Path(name))
    if name.endswith(document_file.SUFFIX) and path.is_file():
        with suppress(BadRecord):
            record = read_record(path)
            if record.head.program == program_digest(compile_graph(graph)):
                return list(record.events)
    return trace_events(graph)


def trace_events(graph: Graph) -> list[Event]:
    """Run a graph with trace and return all that the engine said.

    Raises:
        EngineDied, NeedsTrust: the engine ended, or could not be started; the program holds code of its own.
    """
    with suppress(Refused):  # without anything that requires grad, values alone are shown
        _append_backward(graph)
    with EngineProcess() as engine:
        engine.wait_until_ready()
        return trace_program(engine, graph, compile_graph(graph), document="picture")


def _run_one(engine: EngineOnDemand, name: str, options: argparse.Namespace) -> Result:
    data: Json = {
        "file": name,
        "ok": False,
        "device": None,
        "torch": installed_version("torch"),
        "error": None,
        "nodes": {},
    }
    try:
        opened = open_file(name)
    except Unreadable as error:
        more = {"column": error.column, "others": [one.record() for one in error.others]}
        data["error"] = _error(None, error.line, "UnreadableFile", str(error), Advice()) | more
        return UNREADABLE, data, refusal_text(name, error.others, error)
    graph = opened.graph
    if options.device:
        apply_all(graph, (SetHeader(msgspec.structs.replace(graph.header, device=options.device)),))
    data["device"] = graph.header.device
    try:
        return _run_graph(engine, opened, data, options)
    except (Refused, NothingToContinue) as refusal:
        data["error"] = _error(None, None, "Refused", str(refusal), Advice())
        return FAILED, data, f"{name}: {refusal}"
    except EngineDied as death:
        data["error"] = _error(None, None, "EngineDied", str(death), explain_words("EngineDied", str(death)))
        return FAILED, data, f"{name}: {death}"


def _run_graph(engine: EngineOnDemand, opened: OpenedGraph, data: Json, options: argparse.Namespace) -> Result:
    graph = opened.graph
    if options.backward:
        _append_backward(graph)
    program = compile_graph(graph, stem=stem_of(data["file"]))
    if program.codes and not options.trust:
        typed = FileText(opened.text, opened.lines)
        data["code"], words, shown = untrusted_code(program, typed.shown)
        data["error"] = _error(None, None, "NotTrusted", words, Advice())
        return UNREADABLE, data, f"{data['file']}: {shown}{describe_slips(graph, opened.lines)}"
    trust = trust_in(program, str(data["file"])) if program.codes else None
    process, hello = engine.ready(runs_code=trust is not None)
    data["torch"] = hello.torch
    data["device"] = real_device(graph.header.device, hello)
    recorder = RunRecorder()
    outcome = runner_of(str(data["file"]), keeps=options.keep, goes_on=options.goes_on)(
        process, graph, program, document=uuid.uuid4().hex, trace=options.trace, max_values=options.max_values,
        on_slow=lambda running: _say_slow(running, opened, program, options),
        on_warning=lambda log: _warn(log, opened, program),
        on_event=recorder.hear if options.problems or options.strict else None, trust=trust,
        type_line=None if data["file"] == "-" else typed_line,
    )  # fmt: skip
    recorder.read_report(outcome.report.entries)
    if opened.lines is not None:
        program, outcome = map_lines(program, outcome, opened.lines)
    recorder.failed = outcome.failed
    outcome = with_device(program, outcome, opened.device, data["device"])
    data["problems"] = problems_json(graph, recorder, opened.lines or script_lines(program), program)
    if opened.lines is not None:  # the order of a text is written there
        data["problems"] = [problem for problem in data["problems"] if problem["kind"] != "unordered_write"]
    code, data, text = _report(data, opened, program, outcome, options)
    if end := outcome.program_exit:
        code = data["error"]["exit_code"] = end.code
        sys.stderr.write(f"{end.words}\n" if end.words else "")  # where Python has it
    addresses = program_analysis.addresses(graph)
    printed = {statement.node: statement.line for statement in flatten_statements(program.statements)}
    if options.problems:
        text = "\n".join([text, *run_problem_lines(data["problems"])])
    if options.strict and holds_error(data["problems"]):
        code = code or FAILED
    for need in outcome.needs:
        place = {"node": addresses.get(need.node, need.node), "line": _line(opened, need.node, printed.get(need.node))}
        data["warnings"].insert(0, {**place, "type": "Size", "message": size_title(need)})
        sys.stderr.write(f"{data['file']}: at {place['node']}: {size_title(need)}\n")
    return code, data, text


def _say_slow(
    running: Running | Inferring | None, opened: OpenedGraph, program: Program, options: argparse.Namespace
) -> None:
    """That it is still at work, and where; a reader of JSON is told only on a terminal."""
    line = running.line if running is not None else None
    turn = running.turn if isinstance(running, Running) else 0
    node = next((one.node for one in flatten_statements(program.statements) if one.line == line), ItemId(""))
    if not options.json or sys.stderr.isatty():
        print(slow_words(_line(opened, node, line), turn), file=sys.stderr, flush=True)


def _warn(log: Log, opened: OpenedGraph, program: Program) -> None:
    """What is said beside the run, at once, with the lines as the file has them."""
    placed = with_lines(log, partial(line_of_script, program, opened.lines or {}))
    print(placed.text.replace("Stop (Shift+F5)", "Ctrl+C"), file=sys.stderr, flush=True)


def _report(data: Json, opened: OpenedGraph, program: Program, outcome: Outcome, options: argparse.Namespace) -> Result:
    report, graph = outcome.report, opened.graph
    data["seed"] = report.seed
    names = module_names(opened.text or program.script)
    data["nodes"], data["statements"] = entries_json(report, names, module_names(program.code))
    addresses = call_addresses.addresses(graph)
    data["printed"] = printed_json(outcome.printed, addresses)
    data["warnings"] = warnings_json(outcome.warned, addresses)
    if options.trace:
        data["trace"] = trace_json(report.rows, report.backward, addresses)
        data["wires"] = wires_json(outcome.backward, addresses)
    data["error"] = with_cause(_failure(opened, program, outcome), data["problems"])
    data["ok"] = data["error"] is None
    text = [f"{data['file']}  ({data['device']}, torch {data['torch']})", report_table(report)]
    text += [printed.text for printed in outcome.printed]
    if data["error"] is not None:
        text += failure_lines(data["error"])
    elif outcome.paused.reason:
        text.append(outcome.paused.reason)
    return (FINE if data["ok"] else FAILED), data, "\n".join(text)


def _failure(opened: OpenedGraph, program: Program, outcome: Outcome) -> Json | None:
    graph, failed = opened.graph, outcome.failed
    if failed is not None:
        address, line = failed.address or None, failed.line or None
        advice = advise(failed, graph, values_bound(outcome.report.entries), opened.lines or SCRIPT_LINES)
        error = _error(address, line, failed.type_name, failed.message, advice)
        if failed.clash is not None:
            error["clash"] = clash_json(failed.clash, call_addresses.addresses(graph))
        return error
    if outcome.paused.outcome != "done":
        return _error(None, None, "Refused", outcome.paused.reason, Advice())
    if program.incomplete:
        first = program.incomplete[0]
        where = program_analysis.address(graph, first.node)
        return _error(where, first.line or None, "Incomplete", first.reason, Advice())
    return None


def _error(node: str | None, line: int | None, kind: str, message: str, advice: Advice) -> Json:
    return {**problem_json(node, line, message, advice), "type": kind}


def _append_backward(graph: Graph) -> None:
    """Append ``root.backward()`` when the program has no backward statement (semantics §13)."""
    if not has_backward(compile_graph(graph).statements):
        marked = next((node.id for node in graph.nodes.values() if "root" in node.marks), None)
        apply_all(graph, recipes.append_backward(graph, marked))


def _check_one(engine: EngineOnDemand, name: str, options: argparse.Namespace) -> Result:
    data: Json = {"file": name, "ok": False, "problems": [], "ports": []}
    try:
        opened = open_file(name)
    except Unreadable as error:
        places = [(error.line, str(error)), *((one.line, one.message) for one in error.others)]
        data["problems"] = [problem_json(None, line, words, Advice()) for line, words in places]
        return UNREADABLE, data, refusal_text(name, error.others, error)
    program = compile_graph(opened.graph)
    try:
        inferred = without_insides(
            infer_program(engine.ready()[0], opened.graph, program, lambda at: _say_slow(at, opened, program, options))
        )
    except ShapeTooLong as reason:
        return _too_long(reason, opened, program, data)
    except EngineDied as death:
        data["problems"] = [problem_json(None, None, str(death), explain_words("EngineDied", str(death)))]
        return FAILED, data, f"{name}: {death}"
    problems = _problems(opened, program, inferred)
    data["problems"], data["ok"] = problems, not problems
    data["warnings"] = _notices(opened, program, inferred)
    data["ports"] = [port_json(opened.graph, port) for port in inferred.ports]
    data |= summary_json(opened.graph, program, FileText(opened.text, opened.lines), Path(name).parent)
    lines = [
        f"{name}: {verdict(problems)}, {len((opened.text or program.script).splitlines())} lines",
        *summary_lines(data),
    ]
    lines += [line for port in data["ports"] for line in port_lines(port)]
    lines += [*problem_lines("PROBLEM", problems), *problem_lines("WARNING", data["warnings"])]
    if options.graph or options.between:
        sections = checked(opened.graph, inferred.ports, options.between)
        data["graph"], lines = sections_json(sections, opened.graph), [*lines, *section_lines(sections)]
    return (FINE if not problems else FAILED), data, "\n".join(lines)


def _too_long(reason: ShapeTooLong, opened: OpenedGraph, program: Program, data: Json) -> Result:
    """A check that ended at a statement whose shape takes too long."""
    address = program_analysis.addresses(opened.graph).get(reason.node)
    line = _line(opened, reason.node, reason.line or None)
    data["problems"] = [problem_json(address, line, str(reason), Advice())]
    return FAILED, data, "\n".join([f"{data['file']}: 1 problem", *problem_lines("PROBLEM", data["problems"])])


def _problems(opened: OpenedGraph, program: Program, inferred: Inferred) -> list[Json]:
    """What cannot run, what torch is expected to refuse, and what is larger than the memory."""
    graph, titles, lookup = opened.graph, program_analysis.addresses(opened.graph), values_expected(inferred.ports)
    printed = {statement.node: statement.line for statement in flatten_statements(program.statements)}
    found = [
        problem_json(titles[row.node], _line(opened, row.node, row.line), row.reason, Advice())
        for row in program.incomplete
    ]
    told = [(p.node, p.refusal, advise_refusal(p, graph, lookup)) for p in inferred.ports if p.refusal]
    told += [(need.node, size_title(need), Advice(size_explanation(need))) for need in inferred.needs]
    for node, words, advice in told:
        found.append(problem_json(titles.get(node, node), _line(opened, node, printed.get(node)), words, advice))
    return found


def _notices(opened: OpenedGraph, program: Program, inferred: Inferred) -> list[Json]:
    """What torch runs without a word, and what is hardly meant: no problem, so the check is passed all the same.

    Where torch is expected to refuse, it has said more already.
    """
    titles = program_analysis.addresses(opened.graph)
    printed = {statement.node: statement.line for statement in flatten_statements(program.statements)}
    lines, found = opened.lines or script_lines(program), list[Json]()
    refused = {port.node for port in inferred.ports if port.refusal}
    for finding, advice in notices(opened.graph, values_expected(inferred.ports)):
        node = finding.node
        if node in refused:
            continue
        inside = line_of_part(program, lines, node, finding.line) if finding.line else None
        line = inside or _line(opened, node, printed.get(node))
        found.append(problem_json(titles.get(node, node), line, finding.title, advice))
    return found


def _line(opened: OpenedGraph, node: ItemId, line: int | None) -> int | None:
    return line if opened.lines is None else opened.lines.get(node, line)
