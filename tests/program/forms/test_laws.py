"""Laws of all forms: valid Python that ruff leaves as it is, whatever names, notes and texts a program has."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradstudio.document.file import load
from gradstudio.graph.edits import SetTail, apply
from gradstudio.graph.model import ROOT, Graph, ItemId
from gradstudio.paths import examples
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.class_naming import MODULE_ATTRIBUTES, class_name
from gradstudio.program.forms.form_table import FORMS, Form
from gradstudio.program.forms.selection import write_selection
from tests.program.sketch import Sketch
from tests.program.test_laws import programs

NOTES = (
    "# fmt: off",
    "fmt: off",
    "noqa",
    "type: ignore[x]",
    "%%bash",
    "!rm -rf x",
    "%magic",
    "?",
    '"""',
    "'''\nimport os",
    "\\",
    "a\u2028b",
    "\u202e reversed",
    "region: no",
    "endregion",
    "coding: latin-1",
    "long " * 60,
    "```\n</pre><script>",
    "\x00\x0c",
    "a\n\n\nb\n",
    "fmt: skip",
)
NAMES = (
    *("self", "super_", "forward", "main", "model", "model2", "Program", "loss", "output", "key", "parameter"),
    *("T_destination", "training", "train", "parameters", "type", "half", "to", "ñandú", "名前", "cls", "x" * 90),
)
TEXTS = ('"it\'s"', '"\\\\n"', '"%%bash"', '"# fmt: off"', '"' + "long " * 60 + '"', '"\u202e"', '\'"""\'')


@st.composite
def trained(draw: st.DrawFn) -> Graph:
    """Programs that train something, with hostile names, notes and texts."""
    sketch = Sketch(seed=draw(st.sampled_from([None, 0])), device=draw(st.sampled_from(["cpu", "auto"])))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=8, max_size=8, unique=True))
    note = st.sampled_from(("", *NOTES))
    values: list[ItemId] = []
    for name in names[:4]:
        kind = draw(st.sampled_from(["leaf", "input", "number", "module", "text"]))
        values.append(_made(sketch, kind, name, draw(st.sampled_from(TEXTS)), note=draw(note), beside=draw(note)))
    leaf = sketch.parameter("w", note=draw(note), beside=draw(note))
    tensors = [leaf, *(v for v in values if "randn" in sketch.graph.nodes[v].operator)]
    for name in names[4:]:
        body = sketch.block("group", title=draw(note)) if draw(st.booleans()) else ROOT
        one, two = draw(st.sampled_from(tensors)), draw(st.sampled_from(tensors[-2:]))
        made = sketch.node("operator.mul", name, {"a": one, "b": two}, body=body, note=draw(note), beside=draw(note))
        tensors.append(made)
    last = sketch.node("operator.mul", "", {"a": leaf, "b": tensors[-1]}, part=True)
    total = sketch.node("torch.Tensor.sum", "", {"self": last}, part=True)
    sketch.node("torch.Tensor.backward", wires={"self": total}, note=draw(note), beside=draw(note))
    apply(sketch.graph, SetTail(ROOT, draw(note)))
    return sketch.graph


def _made(sketch: Sketch, kind: str, name: str, text: str, **said: str) -> ItemId:
    literals = {"size": "(2, 2)", "device": "device"}
    match kind:
        case "leaf":
            return sketch.node("torch.randn", name, literals={**literals, "requires_grad": "True"}, **said)
        case "input":
            return sketch.node("torch.randn", name, literals=literals, **said)
        case "number":
            return sketch.node("python.literal", name, literals={"value": "2"}, **said)
        case "text":
            return sketch.node("python.literal", name, literals={"value": text}, **said)
        case _:
            return sketch.node("torch.nn.ReLU", name, **said)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_example_is_as_ruff_would_leave_it(form: Form, tmp_path: Path) -> None:
    for path in sorted(examples().glob("*.gsg")):
        try:
            text = form.write(load(path), path.stem)
        except NoForm:
            continue
        (tmp_path / f"{path.stem}{form.suffix}").write_text(text, encoding="utf-8")
    assert_left_alone(tmp_path)


def test_random_and_hostile_programs_are_as_ruff_would_leave_them(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("forms")
    number = 0

    @given(st.one_of(programs(), trained()))
    @settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
    def write_all(graph: Graph) -> None:
        nonlocal number
        for form in FORMS:
            try:
                text = form.write(graph, "program")
            except NoForm:
                continue
            number += 1
            (folder / f"{form.name}_{number}{form.suffix}").write_text(text, encoding="utf-8")
        (folder / f"selection_{number}.py").write_text(write_selection(graph, list(graph.order())[::2]))

    write_all()
    assert number > 50
    assert_left_alone(folder, ("F821",))


@given(trained())
def test_a_program_that_trains_something_has_a_module_and_the_same_one_each_time(graph: Graph) -> None:
    for form in FORMS:
        if form.name in ("script", "module", "notebook"):
            assert form.write(graph, "program") == form.write(graph.copy(), "program")


def assert_left_alone(folder: Path, ignored: tuple[str, ...] = ()) -> None:
    """`ruff format` changes no file of the folder, and the rules that find mistakes find none."""
    ruff = str(Path(sys.executable).with_name("ruff"))
    for command in (
        ["format", "--check", "--diff", "--isolated"],
        ["check", "--isolated", "--select", "E4,E7,E9,F", "--ignore", ",".join(("E741", *ignored))],
    ):
        done = subprocess.run([ruff, *command, str(folder)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("07_digits_perceptron", "DigitsPerceptron"),
        ("my net", "MyNet"),
        ("résumé", "Résumé"),
        ("名前", "名前"),
        ("1", "X1"),
        ("", "X"),
        ("torch", "Torch"),
        ("F", "FModule"),
        ("class", "Class"),
        ("a-b.c", "ABC"),
        ("none", "NoneModule"),
    ],
)
def test_a_class_is_named_by_its_file(stem: str, name: str) -> None:
    assert class_name(stem, set()) == name
    assert class_name(stem, {name}) != name


def test_a_notebook_is_json_with_text_in_every_cell() -> None:
    sketch = Sketch()
    for note in NOTES:
        sketch.tensor(f"x{sketch.count}", note=note, beside=note)
    notebook = next(form for form in FORMS if form.name == "notebook")
    cells = json.loads(notebook.write(sketch.graph, "program"))["cells"]
    assert all("".join(cell["source"]).strip() for cell in cells)


def test_the_names_kept_free_are_those_a_module_has() -> None:
    assert {"forward", "training", "T_destination", "half", "_parameters"} <= MODULE_ATTRIBUTES
