"""Laws that hold for every program: it parses, its places are right, its order is Python's."""

import ast
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st

from gradstudio.graph.model import ROOT, Graph, ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import flatten_statements
from gradstudio.program.write import write
from tests.program.sketch import Sketch, formatted
from tests.program.traced import source

UNARY = ("operator.neg", "operator.invert")
BINARY = ("operator.add", "operator.mul", "operator.pow", "operator.matmul", "operator.lt", "operator.and_")
NAMES = ("x", "h", "some_longer_name", "y", "quite_a_long_name_for_a_tensor")


class Recorder:
    """A value that writes down everything that is done with it, and gives another such value."""

    def __init__(self, log: list[tuple[object, ...]], label: str) -> None:
        self.log, self.label = log, label

    def note(self, *event: object) -> "Recorder":
        label = f"v{len(self.log)}"
        self.log.append((self.label, *(_plain(item) for item in event)))
        return Recorder(self.log, label)

    def __getattr__(self, name: str) -> "Recorder":
        if name.startswith("__"):
            raise AttributeError(name)
        return self.note("get", name)

    def __call__(self, *arguments: object, **keywords: object) -> "Recorder":
        return self.note("call", *arguments, *sorted(keywords.items()))

    def __getitem__(self, index: object) -> "Recorder":
        return self.note("item", index)

    def __setitem__(self, index: object, value: object) -> None:
        self.note("set", index, value)

    def __neg__(self) -> "Recorder":
        return self.note("neg")

    def __invert__(self) -> "Recorder":
        return self.note("invert")

    def __iadd__(self, other: object) -> "Recorder":
        self.note("iadd", other)
        return self

    def __enter__(self) -> "Recorder":
        return self.note("enter")

    def __exit__(self, *error: object) -> None:
        self.note("exit")


def _operator(name: str) -> None:
    setattr(Recorder, f"__{name}__", lambda self, other: self.note(name, other))
    setattr(Recorder, f"__r{name}__", lambda self, other: self.note(f"r{name}", other))


for _name in ("add", "mul", "pow", "matmul", "and"):
    _operator(_name)
Recorder.__lt__ = lambda self, other: self.note("lt", other)  # type: ignore[operator,method-assign,assignment]


def _plain(value: object) -> object:
    if isinstance(value, Recorder):
        return value.label
    if isinstance(value, tuple | list):
        return tuple(_plain(item) for item in value)
    return value if not isinstance(value, slice) else (value.start, value.stop, value.step)


@st.composite
def programs(draw: st.DrawFn) -> Graph:
    """Programs of operators, calls, parts, blocks, writes and names that are bound again."""
    sketch = Sketch(seed=draw(st.sampled_from([None, 0])))
    _fill(draw, sketch, ROOT, [sketch.tensor("x")], depth=0)
    return sketch.graph


def _fill(draw: st.DrawFn, sketch: Sketch, body: ItemId | str, values: list[ItemId], depth: int) -> None:
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["unary", "binary", "binary", "call", "item", "write", "augmented", "block"]))
        one, two = draw(st.sampled_from(values[-4:])), draw(st.sampled_from(values[-4:]))
        part = draw(st.booleans())
        names = "" if part else draw(st.sampled_from(NAMES)) + str(sketch.count)
        if kind == "block":
            if depth < 2:
                inner = sketch.block(draw(st.sampled_from(["no_grad", "group", "enable_grad"])), body=body)
                _fill(draw, sketch, inner, values, depth + 1)
        elif kind == "unary":
            values.append(sketch.node(draw(st.sampled_from(UNARY)), names, {"a": one}, body=body, part=part))
        elif kind == "binary":
            key = draw(st.sampled_from(BINARY))
            literal = draw(st.sampled_from([None, "2", "-1", "0.5"]))
            wires = {"a": one, "b": two} if literal is None else {"a": one}
            literals = {} if literal is None else {"b": literal}
            values.append(sketch.node(key, names, wires, literals=literals, body=body, part=part))
        elif kind == "call":
            count = draw(st.integers(1, 3))
            wires = {f"tensors.{k}": draw(st.sampled_from(values[-4:])) for k in range(count)}
            lengths, literals = {"tensors": count}, {"dim": "0"}
            item = sketch.node("torch.cat", names, wires, lengths=lengths, literals=literals, body=body, part=part)
            values.append(item)
        elif kind == "item":
            wires = {"a": one, "index.1": two}
            item = sketch.node(
                "operator.getitem", names, wires, literals={"index.0": "1:"}, lengths={"index": 2}, body=body, part=part
            )
            values.append(item)
        elif kind == "write":
            sketch.node("operator.setitem", "", {"a": one, "value": two}, literals={"index": "0"}, body=body)
        elif sketch.graph.nodes[one].names:  # the target of `x[0] += 1` is read once more, to be shown
            sketch.node("operator.iadd", "", {"a": one, "b": two}, body=body)


def _run(text: str) -> list[tuple[object, ...]]:
    log: list[tuple[object, ...]] = []
    torch = SimpleNamespace(
        tensor=Recorder(log, "tensor"),
        cat=Recorder(log, "cat"),
        no_grad=Recorder(log, "no_grad"),
        enable_grad=Recorder(log, "enable_grad"),
    )
    exec(compile(text, "program", "exec"), {"torch": torch})
    return log


@given(programs())
def test_a_script_parses_and_ruff_leaves_it_as_it_is(graph: Graph) -> None:
    script = write(graph)
    ast.parse(script.text)
    assert formatted(script.text) == script.text


@given(programs())
def test_places_are_those_of_whole_expressions_inside_their_users(graph: Graph) -> None:
    script = write(graph)
    lines = script.text.split("\n")
    around: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for span in script.spans:
        start, end = (span.line, span.column), (span.end_line, span.end_column)
        cut = lines[span.line - 1 : span.end_line]
        cut[-1] = cut[-1][: span.end_column]
        cut[0] = cut[0][span.column :]
        while around and around[-1][1] <= start:
            around.pop()
        if span.node in graph.nodes:
            ast.parse("(" + "\n".join(cut) + ")" if around else "\n".join(cut))
        assert not around or end <= around[-1][1]
        around.append((start, end))


@given(programs())
@settings(max_examples=200)
def test_line_by_line_everything_happens_in_the_order_of_the_script(graph: Graph) -> None:
    program = compile_graph(graph)
    code = program.code.removeprefix(program.prelude)
    assert _run(source(program)) == _run(code)


@given(programs())
def test_the_same_graph_gives_the_same_program(graph: Graph) -> None:
    assert compile_graph(graph) == compile_graph(graph.copy())


@given(programs())
def test_every_live_node_is_a_step_and_has_a_place(graph: Graph) -> None:
    program = compile_graph(graph)
    steps = {step.node for step in flatten_statements(program.statements)}
    gone = {item.node for item in program.incomplete}
    assert steps | gone == set(graph.nodes)
    assert {span.node for span in program.spans} >= steps
