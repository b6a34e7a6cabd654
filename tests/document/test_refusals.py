"""Every way in which a file can be wrong, and the words and the place it is refused with."""

import contextlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.document import file
from gradstudio.document.errors import BadField, BadWire, NewerVersion, NotAGraph, UnreadableFile
from tests.document.graphs import graphs

HEAD = '{\n"format": "gradstudio-graph",\n"version": 1,\n'
ADD = '{"kind": "node", "id": "%s", "operator": "operator.add", "names": ["%s"]}'


def text(items: str = "", wires: str = "", more: str = "") -> str:
    """A document: items begin in line 5, each in its own."""
    body = f'"items": [\n{items}\n],\n"wires": [\n{wires}\n]'
    return HEAD + body + (f",\n{more}" if more else "") + "\n}\n"


def adds(*names: str) -> str:
    return ",\n".join(ADD % (name, name) for name in names)


def wire(source: str, target: str, port: str = "a", output: int = 0) -> str:
    return json.dumps({"from": source, "output": output, "to": target, "port": port})


CASES = {
    "empty": ("", NotAGraph, "not JSON", 1),
    "cut off": (HEAD + '"items": [', NotAGraph, "not JSON", 4),
    "a comma too many": (HEAD + '"items": [],\n}', NotAGraph, "not JSON", 5),
    "not a number": (HEAD + '"view": {"zoom": NaN}}', NotAGraph, "not JSON", 4),
    "half of a surrogate pair": (HEAD + '"header": {"device": "\\ud800"}}', NotAGraph, "not JSON", 4),
    "a list": ("[1, 2]", NotAGraph, r"expected an object \{…\}, got a list", 1),
    "null": ("null", NotAGraph, "got null", 1),
    "another program's": (
        '{\n"format": "notebook"}',
        NotAGraph,
        "not a GradStudio graph: its \"format\" is 'notebook'",
        2,
    ),
    "no format": ('{"nodes": []}', NotAGraph, 'it has no "format"', 1),
    "a fragment": ('{"format": "gradstudio-fragment", "version": 1}', NotAGraph, "not a GradStudio graph", 1),
    "a newer version": (
        '{\n"format": "gradstudio-graph",\n"version": 12}',
        NewerVersion,
        "has version 12 of the format, and this GradStudio reads up to version 1: update GradStudio",
        3,
    ),
    "a version that is no number": ('{"format": "gradstudio-graph", "version": "1"}', BadField, "whole number", 1),
    "a version that is true": ('{"format": "gradstudio-graph", "version": true}', BadField, "whole number", 1),
    "version 0": ('{"format": "gradstudio-graph", "version": 0}', BadField, "never was a version 0", 1),
    "a misspelt field": (
        text('{"kind": "node", "id": "a", "operatr": "x"}'),
        BadField,
        r"in items\[0\]: there is no field 'operatr' \(did you mean 'operator'\?\)",
        5,
    ),
    "a field of another type": (
        text(adds("x") + ',\n{"kind": "node", "id": 5}'),
        BadField,
        r"items\[1\]\.id.*a text",
        6,
    ),
    "a field that is missing": (text('{"kind": "node", "id": "a"}'), BadField, "the field 'operator' is missing", 5),
    "an unknown kind of item": (text('{"kind": "while", "id": "a"}'), BadField, r"items\[0\]\.kind: invalid value", 5),
    "a field of another kind": (text('{"kind": "no_grad", "id": "a", "names": []}'), BadField, "no field 'names'", 5),
    "a seed torch cannot take": (HEAD + '"header": {"seed": 36893488147419103232}}', BadField, "seed", 4),
    "a device that is code": (HEAD + '"header": {"device": "cpu\\"); x("}}', BadField, "header.device", 4),
    "a dtype that is code": (HEAD + '"header": {"default_dtype": "torch.x()"}}', BadField, "default_dtype", 4),
    "two items with one id": (text(adds("x", "y", "x")), BadField, "id 'x' is taken by an item above", 7),
    "an empty id": (text(adds("")), BadField, "items\\[0\\].id", 5),
    "an id of ours": (text(adds("@inputs")), BadField, "cannot begin", 5),
    "a name that is none": (text(adds("1x")), BadField, "'1x' is not a Python name", 5),
    "a keyword as name": (text(adds("class")), BadField, "word of Python itself", 5),
    "a name the script needs": (text(adds("torch")), BadField, "exported script needs", 5),
    "a name not in its normal form": (text(adds("ﬁ")), BadField, "must be written 'fi'", 5),
    "a name with two underscores": (text(adds("__import__")), BadField, "two underscores", 5),
    "a loop variable that is none": (text('{"kind": "for", "id": "f", "variable": "a b"}'), BadField, "'a b'", 5),
    "a loop variable elsewhere": (text('{"kind": "if", "id": "f", "variable": "t"}'), BadField, "only a for block", 5),
    "a line break in a title": (text('{"kind": "group", "id": "g", "title": "a\\nimport os"}'), BadField, "title", 5),
    "a literal that is code": (
        text('{"kind": "node", "id": "x", "operator": "operator.add", "literals": {"a": "__import__(\'os\')"}}'),
        BadField,
        "the literal of 'a'",
        5,
    ),
    "a literal that is a name": (
        text('{"kind": "node", "id": "x", "operator": "operator.add", "literals": {"a": "secret"}}'),
        BadField,
        "the literal of 'a'",
        5,
    ),
    "a literal of a block that is code": (
        text('{"kind": "for", "id": "f", "variable": "t", "lengths": {"range": 1}, "literals": {"range.0": "open()"}}'),
        BadField,
        "the literal of 'range.0'",
        5,
    ),
    "a literal that is too long": (
        text('{"kind": "node", "id": "x", "operator": "operator.add", "literals": {"a": "[%s]"}}' % ("1," * 10_001)),
        BadField,
        "10,000",
        5,
    ),
    "more elements than may be": (
        text('{"kind": "node", "id": "x", "operator": "operator.add", "lengths": {"size": 10001}}'),
        BadField,
        "lengths",
        5,
    ),
    "an item in a block that is not there": (
        text(adds("x") + ',\n{"kind": "node", "id": "y", "in": "b", "operator": "operator.add"}'),
        BadField,
        "'b' is not a block that is open here",
        6,
    ),
    "a block's statements torn apart": (
        text(
            '{"kind": "no_grad", "id": "b"},\n{"kind": "node", "id": "y", "in": "b", "operator": "o"},\n'
            + adds("x")
            + ',\n{"kind": "node", "id": "z", "in": "b", "operator": "o"}'
        ),
        BadField,
        "not a block that is open here",
        8,
    ),
    "a wire from nothing": (text(adds("x"), wire("gone", "x")), BadWire, "begins at 'gone', which is not there", 8),
    "a wire to nothing": (text(adds("x"), wire("x", "gone")), BadWire, "ends at 'gone', which is not there", 8),
    "a wire from a definition's edge": (text(adds("x"), wire("@inputs", "x")), BadWire, "'@inputs', which is not", 8),
    "a wire into no input": (
        text(adds("x", "y"), wire("x", "y", "c")),
        BadWire,
        r"'operator\.add' has no argument 'c' \(it has: a, b\)",
        9,
    ),
    "a wire into a block without inputs": (
        text(adds("x") + ',\n{"kind": "no_grad", "id": "b"}', wire("x", "b", "n")),
        BadWire,
        "the block 'b' has no input 'n'",
        9,
    ),
    "a wire from no result": (text(adds("x", "y"), wire("x", "y", output=1)), BadWire, "'x' has no result 1", 9),
    "two wires into one input": (
        text(adds("x", "y"), wire("x", "y") + ",\n" + wire("x", "y")),
        BadWire,
        "the input 'a' of 'y' has a wire already",
        10,
    ),
    "a wire against the order": (
        text(adds("x", "y"), wire("y", "x")),
        BadWire,
        r"'x' \(x\) takes a value from 'y' \(y\), which stands after it",
        9,
    ),
    "a ring": (
        text(adds("x", "y", "z"), ",\n".join([wire("x", "y"), wire("y", "z"), wire("z", "x")])),
        BadWire,
        r"in a ring: 'x' \(x\) → 'y' \(y\) → 'z' \(z\) → 'x' \(x\)",
        12,
    ),
    "a node that feeds itself": (text(adds("x"), wire("x", "x")), BadWire, r"in a ring: 'x' \(x\) → 'x' \(x\)", 8),
    "a comment of no block": (
        text(adds("x"), more='"tails": [{"in": "b", "text": "t"}]'),
        BadField,
        "no block 'b'",
        10,
    ),
    "two definitions of one name": (
        text(more='"definitions": [{"name": "f"},\n{"name": "f"}]'),
        BadField,
        "two definitions 'f'",
        11,
    ),
    "a definition that calls itself": (
        text(
            more='"definitions": [{"name": "f", "items": [{"kind": "node", "id": "n", "operator": "group:g"}]},\n'
            '{"name": "g", "items": [{"kind": "node", "id": "n", "operator": "group:f"}]}]'
        ),
        BadField,
        "the definition 'f' calls itself",
        10,
    ),
    "a definition's output that is not there": (
        text(
            more='"definitions": [{"name": "f", "outputs": ["o"],\n"items": [{"kind": "node", "id": "n", '
            '"operator": "o"}],\n"wires": [{"from": "n", "to": "@outputs", "port": "1"}]}]'
        ),
        BadWire,
        "no output '1'",
        12,
    ),
    "a digest that is a path": (
        text(more='"tensors": [{"digest": "../../secret", "dtype": "float32", "shape": []}]'),
        BadField,
        r"tensors\[0\]\.digest",
        10,
    ),
    "a place beyond all bounds": (text(more='"view": {"places": {"x": {"x": 1e300, "y": 0}}}'), BadField, "places", 10),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_in_words_at_its_line(case):
    document, kind, words, line = CASES[case]
    with pytest.raises(UnreadableFile) as caught:
        file.loads(document)
    assert type(caught.value) is kind
    assert re.search(words, caught.value.message, re.IGNORECASE)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"line {line}, column ")


def test_the_column_is_that_of_the_value():
    line = ADD % ("x", "1x")
    with pytest.raises(BadField) as caught:
        file.loads(text(line))
    assert (caught.value.line, caught.value.column) == (5, line.index('"1x"') + 1)


def test_the_text_of_these_tests_is_itself_readable():
    graph = file.loads(text(adds("x", "y"), wire("x", "y")))
    assert graph.bodies[""] == ("x", "y")


def test_a_byte_order_mark_is_no_hindrance():
    assert file.loads(b"\xef\xbb\xbf" + text().encode()).nodes == {}


def test_another_spelling_of_a_literal_is_brought_into_its_normal_form():
    item = '{"kind": "node", "id": "x", "operator": "operator.add", "literals": {"a": "2*pi", "b": "inf"}}'
    literals = file.loads(text(item)).nodes["x"].literals
    assert literals == {"a": "2 * math.pi", "b": 'float("inf")'}


HOSTILE = {
    "brackets": "[" * 5_000_000,
    "objects": '{"a":' * 1_000_000,
    "brackets in an unknown field": HEAD + '"x": ' + "[" * 5_000_000,
    "brackets in a known field": HEAD + '"items": ' + "[" * 5_000_000,
    "a whole number without end": HEAD + '"header": {"seed": ' + "9" * 5_000_000 + "}}",
    "a number without end": HEAD + '"view": {"zoom": 1' + "0" * 5_000_000 + "}}",
    "an exponent without end": HEAD + '"view": {"zoom": 1e' + "9" * 5_000_000 + "}}",
    "a text without end": HEAD + '"header": {"device": "' + "a" * 5_000_000 + '"}}',
    "a literal without end": text(
        '{"kind": "node", "id": "x", "operator": "operator.add", "literals": {"a": "' + "(" * 900_000 + '"}}'
    ),
    "zeros": "\0" * 5_000_000,
    "more than 64 MiB": " " * (64 * 2**20 + 1),
    "blocks in blocks": text(
        ",\n".join(f'{{"kind": "group", "id": "g{k}"' + (f', "in": "g{k - 1}"' if k else "") + "}" for k in range(5000))
    ),
    "not UTF-8": b'{"format": "gradstudio-graph", "version": 1, "header": {"device": "\xff"}}',
    "UTF-16": text().encode("utf-16"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused(case):
    with pytest.raises(UnreadableFile):
        file.loads(HOSTILE[case])


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_garbage_is_only_ever_refused(garbage):
    with pytest.raises(UnreadableFile):
        file.loads(garbage)


@given(graphs(), st.data())
def test_a_damaged_file_is_read_or_refused_but_never_breaks_anything(graph, data):
    document = bytearray(file.dumps(graph).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(document) - 1))
        document[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    with contextlib.suppress(UnreadableFile):
        assert file.dumps(file.loads(bytes(document)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.dictionaries(st.sampled_from(["header", "items", "wires", "tails", "definitions", "tensors", "view"]), JSON))
def test_any_json_in_any_field_is_read_or_refused(fields):
    with contextlib.suppress(UnreadableFile):
        assert file.dumps(file.loads(json.dumps({"format": "gradstudio-graph", "version": 1, **fields})))
