"""Python's face of every row of the catalogue: it parses, is formatted, and calls what the row says."""

import ast
import inspect
from collections.abc import Iterator

import pytest

from gradstudio.graph.edits import AddNode, AddWire, ReplaceNode, apply
from gradstudio.graph.model import ROOT, Graph, ItemId, Node, Wire
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.families import default_names, is_list_like
from gradstudio.operators.model import Face, Kind, Operator, Parameter
from gradstudio.program.write import write_code
from tests.program.sketch import formatted

RESULT = ItemId("result")
LITERALS = {
    Kind.NUMBER: "0.5",
    Kind.INT: "1",
    Kind.FLOAT: "1e-3",
    Kind.COMPLEX: "1 + 2j",
    Kind.BOOL: "True",
    Kind.TEXT: '"text"',
    Kind.DTYPE: "torch.float64",
    Kind.DEVICE: '"cpu"',
    Kind.LAYOUT: "torch.strided",
    Kind.MEMORY_FORMAT: "torch.contiguous_format",
    Kind.SHAPE: "(2, 3)",
    Kind.INTS: "(0, 1)",
    Kind.NUMBERS: "(0.5, 1.5)",
    Kind.INDEX: ":, 1:",
    Kind.DATA: "[1.0, 2.0]",
    Kind.NAME: "grad",
    Kind.VALUES: "(1, 2)",
}
SOURCES = {
    **dict.fromkeys(
        (Kind.TENSOR, Kind.TENSOR_OR_NUMBER, Kind.TENSORS, Kind.ANY), ("torch.ones", "x", {"size": "(2,)"})
    ),
    **dict.fromkeys((Kind.MODULE, Kind.MODULES), ("torch.nn.ReLU", "module", {})),
    Kind.OPTIMIZER: ("torch.optim.SGD", "optimizer", {"lr": "0.1"}),
    Kind.ARRAY: ("torch.Tensor.numpy", "array", {}),
    **dict.fromkeys((Kind.GENERATOR, Kind.OBJECT), ("torch.Generator", "generator", {})),
}
OUT_OF_DATE = {"torch.nn.functional.scaled_dot_product_attention"}
"""What torch itself describes with an older signature (torch.overrides)."""
PREFIXES = {"F": "torch.nn.functional", "nn": "torch.nn", "optim": "torch.optim", "np": "numpy"}


class Sample:
    """A node of a row with every required argument, or with all, given by wire or as a literal."""

    def __init__(self, operator: Operator, *, complete: bool) -> None:
        self.graph, self.operator = Graph(), operator
        literals, lengths, wires = dict[str, str](), dict[str, int](), list[tuple[ItemId, str]]()
        for parameter in operator.parameters:
            if parameter.default is not None and not complete:
                continue
            literal = self._literal(parameter)
            if operator.face is Face.FORMAT and parameter.kind is Kind.VALUES:
                lengths[parameter.name] = 1
                wires.append((self._source(Kind.TENSOR), f"{parameter.name}.0"))
                continue
            if operator.face is Face.CHOICE and parameter.kind is Kind.VALUES:
                lengths[parameter.name] = 2
                wires += [(self._source(Kind.TENSOR), f"{parameter.name}.{k}") for k in range(2)]
                continue
            if literal:
                literals[parameter.name] = literal
                continue
            of_module = operator.face in (Face.ATTRIBUTE, Face.SET_ATTRIBUTE) and parameter.name == "object"
            source = self._source(Kind.MODULE if of_module else parameter.kind)
            if is_list_like(parameter):
                lengths[parameter.name] = 2
                wires += [(source, f"{parameter.name}.0"), (source, f"{parameter.name}.1")]
            else:
                wires.append((source, parameter.name))
        names = tuple(f"y{k or ''}" for k in range(len(default_names(operator))))
        self._add(Node(id=RESULT, operator=operator.key, names=names, literals=literals, lengths=lengths))
        for source, port in wires:
            apply(self.graph, AddWire(Wire(source, 0, RESULT, port)))

    @property
    def text(self) -> str:
        """The statement of the row alone; "" when it is not printed."""
        code, spans = write_code(self.graph)
        lines = code.splitlines()
        return "\n".join("\n".join(lines[s.line - 1 : s.end_line]) for s in spans if s.node == RESULT)

    def _literal(self, parameter: Parameter) -> str:
        if parameter.name in self.operator.suggested:
            return self.operator.suggested[parameter.name]
        if parameter.choices:
            return parameter.choices[-1]
        return LITERALS.get(parameter.kind, "")

    def _source(self, kind: Kind) -> ItemId:
        key, name, literals = SOURCES[kind]
        item = ItemId(name)
        if item in self.graph:
            return item
        fed = {"torch.Tensor.numpy": "self", "torch.optim.SGD": "params.0"}.get(key)
        x = self._source(Kind.TENSOR) if fed else None
        lengths = {"params": 1} if fed == "params.0" else {}
        self._add(Node(id=item, operator=key, names=(name,), literals=literals, lengths=lengths))
        if x is not None and fed is not None:
            apply(self.graph, AddWire(Wire(x, 0, item, fed)))
        return item

    def _add(self, node: Node) -> None:
        apply(self.graph, AddNode(node, ROOT, len(self.graph.bodies[ROOT])))


def samples() -> Iterator[tuple[Operator, bool, str]]:
    for operator in load():
        for complete in (False, True):
            yield operator, complete, Sample(operator, complete=complete).text


@pytest.fixture(scope="module")
def texts() -> list[tuple[Operator, bool, str]]:
    return list(samples())


def calls(statement: str) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(statement)) if isinstance(node, ast.Call)]


def test_every_row_is_a_statement(texts: list[tuple[Operator, bool, str]]) -> None:
    missing = [operator.key for operator, _, text in texts if not text or text.startswith("#")]
    assert missing == []
    for _, _, text in texts:
        ast.parse(text)


def test_every_row_is_left_alone_by_the_formatter(texts: list[tuple[Operator, bool, str]]) -> None:
    whole = "\n".join(text for _, _, text in texts) + "\n"
    assert formatted(whole).splitlines() == whole.splitlines()


def test_a_hole_without_a_value_is_said_and_nothing_breaks() -> None:
    graph = Graph()
    node = Node(id=RESULT, operator="python.format", names=("y",), literals={"template": '"{} {}"', "values": "(1, 2)"})
    apply(graph, AddNode(node, ROOT, 0))
    assert "# y = " in write_code(graph)[0]


def test_functions_methods_and_constructors_call_their_path(texts: list[tuple[Operator, bool, str]]) -> None:
    wrong = []
    for operator, _, text in texts:
        if operator.face not in (Face.FUNCTION, Face.CONSTRUCTOR, Face.METHOD):
            continue
        asked = [_path_of(call) for call in calls(text)]
        expected = f".{operator.symbol or operator.word}" if operator.face is Face.METHOD else operator.path
        if not any(path.endswith(expected) if expected[:1] == "." else path == expected for path in asked):
            wrong.append((operator.key, text))
    assert wrong == []


def test_keywords_are_those_that_were_given_and_nothing_is_given_twice(
    texts: list[tuple[Operator, bool, str]],
) -> None:
    wrong = []
    for operator, complete, text in texts:
        if operator.face not in (Face.FUNCTION, Face.CONSTRUCTOR, Face.METHOD):
            continue
        given = [p for p in operator.parameters if complete or p.default is None]
        call = calls(text)[0]
        keywords = [keyword.arg for keyword in call.keywords]
        names = [p.name for p in operator.parameters]
        late = [p.name for p in given if p.keyword_only]
        if len(set(keywords)) != len(keywords) or not set(late) <= set(keywords) <= set(names):
            wrong.append((operator.key, text))
    assert wrong == []


def _path_of(call: ast.Call) -> str:
    """The whole path that is called: ``torch.nn.functional.relu`` for ``F.relu``; ``.sum`` behind a value."""
    text = ast.unparse(call.func)
    head, dot, rest = text.partition(".")
    if dot and head in PREFIXES:
        return f"{PREFIXES[head]}.{rest}"
    return text if dot else f"builtins.{text}"


def signature_of(operator: Operator) -> inspect.Signature | None:
    """What Python itself knows of the call; None for functions written in C that torch does not describe."""
    import torch
    from torch.overrides import get_ignored_functions, get_testing_overrides

    home, *rest = operator.path.split(".")
    value: object = {"torch": torch}.get(home)
    for word in rest:
        value = getattr(value, word, None)
    if value is None or home != "torch":
        return None
    described = get_testing_overrides().get(value) if value not in get_ignored_functions() else None
    try:
        return inspect.signature(described or value)  # type: ignore[arg-type]  # anything callable
    except (TypeError, ValueError):
        return None


def test_python_takes_the_arguments_as_they_are_printed(texts: list[tuple[Operator, bool, str]]) -> None:
    """Against the signatures of torch's own Python functions and classes."""
    wrong, asked = [], 0
    for operator, _, text in texts:
        if operator.face not in (Face.FUNCTION, Face.CONSTRUCTOR) or not operator.path.startswith("torch.nn."):
            continue
        signature = signature_of(operator)
        call = calls(text)[0]
        if signature is None or operator.path in OUT_OF_DATE or any(isinstance(a, ast.Starred) for a in call.args):
            continue
        asked += 1
        try:
            signature.bind(*call.args, **{k.arg: k.value for k in call.keywords if k.arg is not None})
        except TypeError as error:
            wrong.append((operator.key, text, str(error)))
    assert asked > 400
    assert wrong == []


@pytest.mark.parametrize(
    ("key", "literals", "text"),
    [
        ("torch.Tensor.sum", {"dim": "1", "keepdim": "True"}, "y = x.sum(dim=1, keepdim=True)"),
        ("torch.randn", {"size": "(2, 3)"}, "y = torch.randn(2, 3)"),
        ("torch.Tensor.view", {"shape": "(2, -1)"}, "y = x.view(2, -1)"),
        ("torch.arange:start", {"start": "0", "end": "10", "step": "2"}, "y = torch.arange(0, 10, 2)"),
        ("torch.Tensor.to:dtype", {"dtype": "torch.float64"}, "y = x.to(torch.float64)"),
        ("operator.getitem", {"index": ":, 1:"}, "y = x[:, 1:]"),
        (
            "torch.nn.Conv2d",
            {"in_channels": "1", "out_channels": "8", "kernel_size": "3", "padding": "1"},
            "y = nn.Conv2d(1, 8, kernel_size=3, padding=1)",
        ),
        ("torch.nn.MaxPool2d", {"kernel_size": "2"}, "y = nn.MaxPool2d(2)"),
        (
            "torch.nn.MultiheadAttention",
            {"embed_dim": "8", "num_heads": "2"},
            "y = nn.MultiheadAttention(8, num_heads=2)",
        ),
        ("torch.nn.functional.cross_entropy", {"reduction": '"sum"'}, 'y = F.cross_entropy(x, x, reduction="sum")'),
    ],
)
def test_calls_read_as_people_write_them(key: str, literals: dict[str, str], text: str) -> None:
    sample = Sample(load()[key], complete=False)
    node = sample.graph.nodes[RESULT]
    fresh = Node(id=RESULT, operator=key, names=("y",), literals=literals, lengths=node.lengths)
    apply(sample.graph, ReplaceNode(fresh))
    assert sample.text == text
