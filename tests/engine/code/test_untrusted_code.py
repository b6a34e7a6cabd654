"""By hand, to make an untrusted document do anything: nothing of its code is executed, whatever is asked for."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from gradstudio.cli import main
from gradstudio.document import file as document_file
from gradstudio.graph.model import Graph
from gradstudio.graph.text.literal_text import quote
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Program
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.protocol import client
from gradstudio.protocol.client import RUNS_CODE, EngineProcess
from gradstudio.protocol.messages.debugging import Change, Check, Checked, WhatIf, WhatIfAnswered
from gradstudio.protocol.messages.events import Loaded, Paused
from gradstudio.protocol.messages.inference import Infer, Inferred, TryWire, WireTried
from gradstudio.protocol.messages.requests import Do, Load, Trust

UNREADABLE = 4


@pytest.fixture
def sentinel(tmp_path: Path) -> Path:
    """A file that is there once code was executed."""
    return tmp_path / "executed"


@pytest.fixture
def graph(sentinel: Path) -> Graph:
    text = f"import torch\n\nx = torch.ones(2)\nopen({str(sentinel)!r}, 'w').write('!')\ny = x * 2\n"
    return read_script(text, keeps_code=True).graph


@pytest.fixture
def document(graph: Graph, tmp_path: Path) -> Path:
    path = tmp_path / "crafted.gsg"
    document_file.save(graph, path)
    return path


@pytest.fixture(scope="module", params=[(), (RUNS_CODE,)], ids=["walls", "for_code"])
def engine(request: pytest.FixtureRequest) -> Iterator[EngineProcess]:
    with EngineProcess((*client.COMMAND, *request.param)) as process:
        process.wait_until_ready()
        yield process


@pytest.fixture
def engine_for_code() -> Iterator[EngineProcess]:
    with EngineProcess((*client.COMMAND, RUNS_CODE)) as process:
        process.wait_until_ready()
        yield process


def asked(engine: EngineProcess, program: Program, request: Do) -> Paused:
    engine.send(Load(document="d", revision=0, program=program))
    engine.wait_for(Loaded)
    engine.send(request)
    paused = engine.wait_for(Paused)
    assert isinstance(paused, Paused)
    return paused


@pytest.mark.parametrize(
    "words", [["check"], ["export"], ["export", "--as", "notebook"], ["export", "--as", "module"], ["run"]]
)
def test_no_verb_of_the_command_line_executes_it(
    words: list[str], document: Path, sentinel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([words[0], str(document), *words[1:]])
    assert not sentinel.exists()


def test_run_tells_the_lines_and_ends_with_four(
    document: Path, sentinel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(document)]) == UNREADABLE
    told = capsys.readouterr().out
    assert "--trust" in told
    assert f"open({str(sentinel)!r}" in told
    assert main(["run", "--json", str(document)]) == UNREADABLE
    (report,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert [one["line"] for one in report["code"]] == [4]
    assert report["error"]["type"] == "NotTrusted"
    assert not sentinel.exists()
    assert main(["run", "--trust", str(document)]) == 0
    assert sentinel.exists()


def test_no_verb_runs_without_a_yes(engine: EngineProcess, graph: Graph, sentinel: Path) -> None:
    program = compile_graph(graph)
    for verb in ("run", "forward", "backward", "step", "repeat"):
        for trace in (True, False):
            paused = asked(engine, program, Do(verb=verb, trace=trace))  # type: ignore[arg-type]
            assert paused.outcome == "refused", paused
            assert paused.reason
    assert not sentinel.exists()


def test_a_yes_is_to_these_lines_and_to_no_others(engine_for_code: EngineProcess, graph: Graph, sentinel: Path) -> None:
    program = compile_graph(graph)
    yes = Trust(code_digest(program))
    other = msgspec.structs.replace(
        program, trusted=tuple(msgspec.structs.replace(one, text=one.text + "\npass") for one in program.trusted)
    )
    assert code_digest(other) != yes.digest
    assert asked(engine_for_code, other, Do(verb="run", trust=yes)).outcome == "refused"
    assert asked(engine_for_code, program, Do(verb="repeat", trust=yes)).outcome == "refused"
    assert not sentinel.exists()
    assert asked(engine_for_code, program, Do(verb="run", trust=yes)).outcome == "done"
    assert sentinel.exists()


def test_an_engine_with_walls_runs_none_even_with_a_yes(graph: Graph, sentinel: Path) -> None:
    program = compile_graph(graph)
    with EngineProcess() as process:
        process.wait_until_ready()
        paused = asked(process, program, Do(verb="run", trust=Trust(code_digest(program))))
    assert paused.outcome == "refused"
    assert not sentinel.exists()


def test_a_program_that_hides_its_code_is_refused_at_the_node(graph: Graph, sentinel: Path) -> None:
    """What says of itself that it holds none runs behind the list by type, which refuses the text."""
    hidden = msgspec.structs.replace(compile_graph(graph), codes=())
    with EngineProcess() as process:
        process.wait_until_ready()
        assert asked(process, hidden, Do(verb="run")).outcome == "failed"
        assert asked(process, hidden, Do(verb="run", trace=False)).outcome == "failed"
    assert not sentinel.exists()


def test_a_drawn_program_does_not_run_without_walls(engine_for_code: EngineProcess) -> None:
    program = compile_graph(read_script("import torch\nx = torch.ones(2)\n").graph)
    assert asked(engine_for_code, program, Do(verb="run")).outcome == "refused"


def test_looking_for_shapes_executes_nothing(engine: EngineProcess, graph: Graph, sentinel: Path) -> None:
    text = f"import torch\n\nd = open({str(sentinel)!r}, 'w')\nz = torch.ones(3) * 2\nw = d.write('!')\n"
    for one in (graph, read_script(text, keeps_code=True).graph):
        program = compile_graph(one)
        engine.send(Infer(revision=0, program=program))
        inferred = engine.wait_for(Inferred)
        assert isinstance(inferred, Inferred)
        told = {port.node: port for port in inferred.ports}
        for code in program.codes:
            assert code.node not in told or told[code.node].known_after_run
        assert any(port.shape == (3,) or port.shape == (2,) for port in inferred.ports)
        engine.send(TryWire(request=1, target=next(iter(one.nodes)), program=program))
        assert isinstance(engine.wait_for(WireTried), WireTried)
    assert not sentinel.exists()


def test_no_experiment_runs_it_on_the_side(engine_for_code: EngineProcess, graph: Graph, sentinel: Path) -> None:
    program = compile_graph(graph)
    asked(engine_for_code, program, Do(verb="run"))
    engine_for_code.send(WhatIf(request=1, change=Change(node=next(iter(graph.nodes)))))
    answer = engine_for_code.wait_for(WhatIfAnswered)
    assert isinstance(answer, WhatIfAnswered)
    assert answer.error
    engine_for_code.send(Check(request=2, nodes=(next(iter(graph.nodes)),)))
    checked = engine_for_code.wait_for(Checked)
    assert isinstance(checked, Checked)
    assert checked.error
    assert not sentinel.exists()


def crafted(sentinel: Path, **changes: object) -> str:
    """A document by hand."""
    code = quote(f"open({str(sentinel)!r}, 'w').write('!')")
    node = {"kind": "node", "id": "n1", "operator": "python.code", "literals": {"code": code}, **changes}
    data = {"format": "gradstudio-graph", "version": 1, "header": {}, "items": [node], "wires": [], "view": {}}
    return json.dumps(data)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"muted": True},
        {"bypassed": True},
        {"operator": "Python.code"},
        {"operator": "python.code "},
        {"operator": "python.code:1"},
        {"names": ["x"]},
        {"positional": ["code"]},
        {"lengths": {"code": 2}},
        {"marks": ["root"]},
    ],
)
def test_no_spelling_of_it_runs(
    changes: dict[str, object], tmp_path: Path, sentinel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.gsg"
    path.write_text(crafted(sentinel, **changes))
    for words in (["run"], ["run", "--trace"], ["check"], ["export"]):
        main([words[0], str(path), *words[1:]])
    assert not sentinel.exists()


def test_code_inside_of_a_definition_needs_the_yes_too(
    tmp_path: Path, sentinel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads(crafted(sentinel))
    inner = data["items"]
    data["items"] = [{"kind": "node", "id": "n2", "operator": "group:f", "names": ["y"]}]
    data["definitions"] = [{"name": "f", "inputs": [], "outputs": [], "items": inner, "wires": []}]
    path = tmp_path / "a.gsg"
    path.write_text(json.dumps(data))
    assert main(["run", str(path)]) == UNREADABLE
    assert str(sentinel) in capsys.readouterr().out
    assert not sentinel.exists()
