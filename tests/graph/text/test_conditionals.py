"""Expressions that choose while they run: what they may hold, how they are printed, what is refused."""

import ast
import re

import pytest

from gradstudio.graph.errors import Refused
from gradstudio.graph.text.conditionals import MAX_DEPTH, read_conditional
from gradstudio.graph.text.literal_text import AND, COMPARISON, CONDITIONAL, quote
from tests.program.sketch import formatted

AS_PRINTED = [
    "v0 is not None and v1.grad.sum() > 0",
    "v0 if v1 else v2",
    "v0 if v1 else v2 if v3 else v4",
    "(v0 if v1 else v2) + 1",
    "v0 and (v1 or v2)",
    "v0 and v1 or v2",
    "not (v0 and v1)",
    "not v0 or v1",
    "(not v0).sum() or v1",
    "0 < v0 < 1",
    "0 <= v0 != v1 > 2",
    "(v0 < v1) == (v2 < v3) and v4",
    "v0 in (1, 2) and v1 not in [v2]",
    "-(v0**2) or v1",
    "v0**-v1 or v2",
    "v0 ** v1.sum() or v2",
    "(v0 + v1) * v2 and v3",
    "v0[0, 1:] and v1[v2 : v3 + 1] and v4[::2] and v5[0,]",
    "v0 == 'a \"b\"' and v1",
    "torch.clamp(v0, max=1.0) if v1 > 0 else F.relu(v2)",
    "math.pi if v0 else np.inf",
    "v0.max(dim=1)[0] if v1 else v2.values",
    "isinstance(v0, float) and len(v1) > 2",
    'f"{v0:>{v1}.{v2}f} of {v3!r}"',
    "[*v0, 1]",
    "(*v0, 1)",
    "v0.device.type == v1 and 1e-3 < v2",
]
REFUSED = {
    "v0 and v0": "numbered as they come",
    "v1 or v0": "numbered as they come",
    "x or v0": "numbered as they come",
    "v0 and v1.backward()": "cannot be called",
    "v0 and v1.add_(1)": "cannot be called",
    "v0 and v1.__class__": "cannot be read",
    "v0 and v1.tofile": "cannot be read",
    "v0 and v1.tofile(v2)": "cannot be called",
    "v0 and v1(v2)": "cannot be called",
    "v0 and (v1)(2)": "cannot be called",
    "v0 and eval('1')": "cannot be called",
    "v0 and print(v1)": "cannot be called",
    "v0 and open('f')": "cannot be called",
    "v0 and torch.load(v1)": "cannot be called",
    "v0 and torch.manual_seed(1)": "cannot be called",
    "v0 and np.save": "nothing that has a value",
    "v0 and torch.nn.init.zeros_(v1)": "cannot be called",
    "v0 and (lambda: 1)": "cannot stand",
    "v0 and [x for x in v1]": "cannot stand",
    "v0 and {1}": "cannot stand",
    "v0 and (x := 1)": "cannot stand",
    "v0 and len(**v1)": "write the arguments out",
    "v0 and b'1'": "",
    "v0 and": "no expression",
    "import os": "no expression",
    " or ".join(["v0"] * 2_000): "at most",
    "not " * (MAX_DEPTH + 1) + "v0": "nested more than",
}


@pytest.mark.parametrize("text", AS_PRINTED)
def test_what_is_printed_reads_back_as_the_same_text(text: str) -> None:
    found = read_conditional(quote(text))
    assert found.text == text
    assert sum(hole.floor is not None for hole in found.holes) == found.count == len(re.findall(r"\bv\d", text))
    assert ast.dump(ast.parse(found.text)) == ast.dump(ast.parse(text))


def test_what_is_printed_is_formatted() -> None:
    source = "".join(f"y = {text}\n" for text in AS_PRINTED)
    assert formatted(source) == source


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("v0  and(v1)", "v0 and v1"),
        ("(v0 if(v1)else v2)", "v0 if v1 else v2"),
        ("v0 == 'a'  or v1", 'v0 == "a" or v1'),
        ("v0 ** 2 or v1", "v0**2 or v1"),
        ("v0 and (v1 and v2)", "v0 and (v1 and v2)"),
        ("numpy.sin(v0) if torch.nn.functional.relu(v1) else v2", "np.sin(v0) if F.relu(v1) else v2"),
    ],
)
def test_it_is_printed_in_one_way(text: str, printed: str) -> None:
    assert read_conditional(quote(text)).text == printed


@pytest.mark.parametrize(("text", "reason"), REFUSED.items())
def test_what_a_canvas_does_not_run_is_refused(text: str, reason: str) -> None:
    with pytest.raises(Refused) as error:
        read_conditional(quote(text))
    assert reason in str(error.value)


@pytest.mark.parametrize("literal", ["3", "", "v0 and v1", '"v0" + "v1"'])
def test_only_a_text_is_an_expression(literal: str) -> None:
    with pytest.raises(Refused):
        read_conditional(literal)


def test_how_tightly_it_binds_and_what_it_imports() -> None:
    assert read_conditional('"v0 and v1"').precedence == AND
    assert read_conditional('"v0 if v1 else v2"').precedence == CONDITIONAL
    found = read_conditional('"0 < v0 < np.pi"')
    assert found.precedence == COMPARISON
    assert found.modules == {"np"}
