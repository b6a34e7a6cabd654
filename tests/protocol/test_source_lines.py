"""What a run left is told in the lines of the text that a person gave."""

import msgspec
import pytest

from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Incomplete, Program
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.events import Device, Failed, Hello, Log, NamedEntry, Paused, Printed, Report, Warned
from gradstudio.protocol.messages.records import PlainRecord
from gradstudio.protocol.runner import Outcome
from gradstudio.protocol.source_lines import NOWHERE, map_lines, real_device, with_device

N1, N2 = ItemId("n1"), ItemId("n2")


def program(prelude: str = "import torch\n") -> Program:
    compiled = compile_graph(read_script("import torch\n\na = torch.ones(2)\n").graph)
    return msgspec.structs.replace(compiled, prelude=prelude)


def left() -> Outcome:
    return Outcome(
        paused=Paused(1, "run", "done", ItemId(""), True, 1),
        report=Report(1, (entry(N1, 3), entry(N2, 4)), seed=7, device="cpu"),
        failed=Failed(1, N2, "b", 4, "ValueError", "no"),
        printed=[Printed(N1, 3, "hello")],
        warned=[Warned(N2, 4, "UserWarning", "beware")],
        logged=[Log("info", "said")],
    )


def entry(node: ItemId, line: int) -> NamedEntry:
    return NamedEntry(name=node, node=node, operator="torch.ones", line=line)


def test_lines_are_those_of_the_given_text_wherever_it_has_one() -> None:
    drawn = msgspec.structs.replace(program(), incomplete=(Incomplete(N1, "empty", 3), Incomplete(N2, "too", 4)))
    before = left()
    told, after = map_lines(drawn, before, {N1: 30})
    assert [row.line for row in after.report.entries] == [30, 4]
    assert after.printed == [Printed(N1, 30, "hello")]
    assert after.warned == before.warned
    assert after.failed == before.failed
    assert told.incomplete == (Incomplete(N1, "empty", 30), Incomplete(N2, "too", 4))
    assert (after.paused, after.logged, after.report.seed) == (before.paused, before.logged, 7)
    assert [row.line for row in before.report.entries] == [3, 4], "what was given stays as it is"


def test_words_about_lines_of_the_script_are_told_with_those_of_the_given_text() -> None:
    outcome, words = left(), "Rank 0 is at line 3 (a = torch.ones(2)); rank 1 is behind line 1: line 3 of 3"
    outcome.paused = msgspec.structs.replace(outcome.paused, reason=words, names_lines=True)
    outcome.logged = [Log("error", words, names_lines=True), Log("error", words)]
    _, after = map_lines(program(), outcome, {N1: 30})
    mine = "Rank 0 is at line 30 (a = torch.ones(2)); rank 1 is behind line 1: line 3 of 3"
    assert (after.paused.reason, [log.text for log in after.logged]) == (mine, [mine, words])


def test_what_is_inside_a_call_is_told_at_its_own_statement() -> None:
    outcome = left()
    outcome.failed = Failed(1, ItemId("n1/n2"), "call", 9, "ValueError", "no")
    _, after = map_lines(program(), outcome, {N1: 30, N2: 40})
    assert after.failed is not None
    assert after.failed.line == 40


def test_a_line_within_undrawn_python_is_told_as_the_same_line_of_the_file() -> None:
    load = "def load(text, *more):\n    data = json.loads(text)\n    return data['b']\n"
    text = f"import torch\nimport json\n\n\n\n{load}\nt = load('{{}}')\n"
    read = read_script(text, keeps_code=True)
    compiled = compile_graph(read.graph)
    code = next(one for one in compiled.codes if "def load" in one.text)
    outcome = left()
    outcome.failed = Failed(1, code.node, "load", code.line + 2, "KeyError", "'b'")
    outcome.printed = [Printed(code.node, code.line + 1, "hello")]
    outcome.warned = [Warned(code.node, code.line, "UserWarning", "beware")]
    _, after = map_lines(compiled, outcome, read.lines)
    assert after.failed is not None
    assert text.splitlines()[after.failed.line - 1] == "    return data['b']"
    assert [one.line for one in after.printed] == [7]
    assert [one.line for one in after.warned] == [6]


def test_a_run_without_a_failure_stays_one() -> None:
    outcome = left()
    outcome.failed = None
    assert map_lines(program(), outcome, {N1: 30})[1].failed is None


def test_the_device_is_told_where_the_header_binds_it() -> None:
    before = left()
    after = with_device(program('import torch\n\ndevice = "cpu"\n'), before, None, "cpu")
    device, *others = after.report.entries
    assert (device.name, device.node, device.operator, device.line) == ("device", NOWHERE, "torch.device", 3)
    assert device.outputs == (PlainRecord(what="text", class_name="device", value="cpu"),)
    assert tuple(others) == before.report.entries


def test_the_device_is_told_where_the_given_text_binds_it() -> None:
    after = with_device(program('device = "cpu"\n'), left(), (12, "str"), "cuda")
    device = after.report.entries[0]
    assert device.line == 12
    assert device.outputs == (PlainRecord(what="text", class_name="str", value="cuda"),)


@pytest.mark.parametrize(("prelude", "given"), [("import torch\n", None), ('device = "cpu"\n', (0, ""))])
def test_no_device_is_told_where_none_is_bound(prelude: str, given: tuple[int, str] | None) -> None:
    before = left()
    assert with_device(program(prelude), before, given, "cpu") is before


@pytest.mark.parametrize(
    ("word", "names", "real"),
    [
        ("auto", ("cpu", "cuda:0"), "cuda"),
        ("auto", ("cpu",), "cpu"),
        ("auto", (), "cpu"),
        ("cpu", ("cuda:0",), "cpu"),
        ("cuda:1", (), "cuda:1"),
    ],
)
def test_the_device_word_means_what_the_machine_has(word: str, names: tuple[str, ...], real: str) -> None:
    hello = Hello(2, True, 1, devices=tuple(Device(name, name) for name in names))
    assert real_device(word, hello) == real
