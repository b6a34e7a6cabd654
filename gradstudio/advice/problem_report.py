"""What is wrong and what can be done, as plain data: the same advice that the window gives at a card."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.silent_mistakes import silent_mistakes
from gradstudio.advice.explanation import SCRIPT_LINES, Lines, expected_record, explain, failed_of
from gradstudio.advice.failure_case import Lookup
from gradstudio.advice.fixes.finding_fixes import finding_fixes
from gradstudio.advice.fixes.fix_kinds import fixes_for
from gradstudio.advice.model import Advice
from gradstudio.advice.run_problems import RunRecorder, run_problems, split_first_sentence
from gradstudio.advice.told_once import told_once
from gradstudio.graph.analysis import call_addresses
from gradstudio.graph.analysis.program_analysis import addresses
from gradstudio.graph.groups.call_ids import is_call_item, path_of
from gradstudio.graph.groups.code_ids import code_call
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.name_bindings import name_of
from gradstudio.program.file_lines import line_of_call, line_of_part
from gradstudio.program.model import Program
from gradstudio.protocol.messages.events import Failed, NamedEntry, Warned
from gradstudio.protocol.messages.inference import Inferred, PortInference
from gradstudio.protocol.messages.records import Record

Json = dict[str, Any]


def advise(failed: Failed, graph: Graph, lookup: Lookup, lines: Lines = SCRIPT_LINES) -> Advice:
    """Why it failed, and the ways out: first those that are edits of this very graph, by their titles."""
    fixes = fixes_for(failed, graph, lookup)
    return Advice(explain(failed, graph, lines).explanation, tuple(fix.title for fix in fixes))


def advise_refusal(refusal: PortInference, graph: Graph, lookup: Lookup) -> Advice:
    """The same of what torch is expected to refuse."""
    return advise(failed_of(refusal, graph, lookup), graph, lookup)


def values_bound(entries: Iterable[NamedEntry]) -> Lookup:
    """Asks the report of a run."""
    known = {(entry.node, entry.output or 0): entry.outputs[0] for entry in entries if entry.outputs}
    return lambda item, output: known.get((item, output))


def without_insides(inferred: Inferred) -> Inferred:
    """What is expected of the program's own nodes; what is refused inside a call is told at the call, too."""
    ports = tuple(port for port in inferred.ports if not is_call_item(port.node))
    return msgspec.structs.replace(inferred, ports=ports)


def values_expected(ports: Iterable[PortInference]) -> Lookup:
    """Asks what inference expects."""
    known: dict[tuple[ItemId, int], Record | None] = {(p.node, p.output): expected_record(p) for p in ports}
    return lambda item, output: known.get((item, output))


def output_name(graph: Graph, item: ItemId, output: int) -> str:
    """How reports call one output: of several names that a statement binds, its own."""
    address = addresses(graph).get(item, item)
    if not output:
        return address
    name = name_of(graph, (item, output)) if item in graph else ""
    return name if name not in ("", "_") else f"{address}[{output}]"


def problem_json(node: str | None, line: int | None, message: str, advice: Advice) -> Json:
    """One thing that is wrong: where, in torch's words or ours, why, and what can be done."""
    told = {"node": node, "line": line, "message": message}
    return {**told, "explanation": advice.explanation, "fixes": list(advice.fixes)}


def warnings_json(warned: Iterable[Warned], titles: Mapping[ItemId, str]) -> list[Json]:
    """What torch warned of, each of it once at a node; `times` says how often."""
    return [
        {"node": titles.get(w.node, w.node), "line": w.line, "type": w.category, "message": w.message, "times": times}
        for w, times in told_once(warned)
    ]


def notices(graph: Graph, lookup: Lookup) -> Iterator[tuple[Finding, Advice]]:
    """What torch runs without a word and what is hardly meant."""
    for finding in silent_mistakes(graph, lookup):
        if finding.severity == "info" and finding.kind == "whole_code":
            continue  # a check says it with the code
        fixes = tuple(fix.title for fix in finding_fixes(finding, graph))
        yield finding, Advice(finding.explanation, fixes)


SEVERITIES = {"error": "ERROR", "warning": "WARNING", "info": "NOTE"}
"""How a line for people begins."""


def problems_json(graph: Graph, recorder: RunRecorder, lines: Lines, program: Program | None = None) -> list[Json]:
    """Each problem of a run: where, how bad, the cause in one sentence, why, and what can be done.

    Args:
        graph: the program that ran.
        recorder: what was heard of the run.
        lines: of the text that a person has, by item; what is inside a call by its item in the definition.
        program: the same as it was executed, where it holds undrawn Python: which line called is known by it.
    """
    titles = call_addresses.addresses(graph)
    found = []
    for problem in run_problems(graph, recorder, lines):
        call = code_call(problem.node)
        node, line = titles.get(problem.node, problem.node), lines.get(path_of(problem.node)[-1])
        if call is not None and program is not None:
            node, line = titles.get(call.card, call.card), line_of_call(program, lines, call)
        elif problem.line and program is not None:
            line = line_of_part(program, lines, problem.node, problem.line)
        elif problem.kind == "failure" and recorder.failed is not None and recorder.failed.node == problem.node:
            line = recorder.failed.line or line
        data = problem_json(node, line, problem.title, Advice(problem.explanation, problem.fixes))
        found.append({**data, "severity": problem.severity, "kind": problem.kind, "words": problem.words})
    return found


def with_cause(error: Json | None, problems: Iterable[Json]) -> Json | None:
    """An error as the problems of its run explain it: what it comes of first."""
    told = next((problem for problem in problems if problem["kind"] == "failure"), None)
    if error is None or told is None:
        return error
    return {**error, "explanation": f"{told['message']} {told['explanation']}".strip()}


def holds_error(problems: Iterable[Json]) -> bool:
    """Whether numbers are spoilt, or it failed."""
    return any(problem["severity"] == "error" for problem in problems)


def failure_lines(error: Json) -> list[str]:
    """A failure for people: its cause, why, the ways out, and torch's words behind them."""
    where = f"at {error['node']} (line {error['line']}): " if error["node"] else ""
    words = f"{error['type']}: {error['message']}"
    cause, why = split_first_sentence(error["explanation"])
    if not cause:
        return [f"FAILED {where}{words}", *advice_lines(error)]
    return [f"FAILED {where}{cause}", *advice_lines({**error, "explanation": why}), f"  {words}"]


def run_problem_lines(problems: Iterable[Json]) -> Iterator[str]:
    """The problems of a run for people; a failure is told already."""
    for problem in problems:
        if problem["kind"] != "failure":
            yield from problem_lines(SEVERITIES[problem["severity"]], [problem])


def problem_lines(word: str, problems: Iterable[Json]) -> Iterator[str]:
    """What is wrong, for people: where, what, and what can be done."""
    for problem in problems:
        at = f"{problem['node']} (line {problem['line']})" if problem["line"] else problem["node"]
        yield f"{word} at {at}: {problem['message']}"
        yield from advice_lines(problem)


def advice_lines(problem: Json) -> list[str]:
    """The explanation and the ways out, a line each, for people."""
    explained = [f"  {problem['explanation']}"] if problem["explanation"] else []
    return [*explained, *(f"  → {fix}" for fix in problem["fixes"])]


def port_json(graph: Graph, port: PortInference) -> Json:
    """What is expected of an output, by its own name; of a module its parameters and buffers by theirs."""
    told: Json = {**msgspec.to_builtins(port), "name": output_name(graph, port.node, port.output)}
    for leaf in told.get("leaves") or ():
        leaf["name"] = f"{told['name']}.{leaf['path']}"
    return told


def port_lines(port: Json) -> Iterator[str]:
    """The lines of a check for it."""
    if port.get("shape") is not None:
        yield f"  {port['name']}: {port.get('dtype') or 'some dtype'} {port['shape']}"
    for leaf in port.get("leaves") or ():
        yield f"  {leaf['name']}: {leaf['dtype']} {leaf['shape']}"


def slow_words(line: int | None, turn: int) -> str:
    """That a run is still at work, and where, as far as that is known."""
    more = f", turn {turn:,}" if turn > 1 else ""
    place = f" (line {line}{more})" if line is not None else ""
    return f"still running{place}; Ctrl+C stops it"
