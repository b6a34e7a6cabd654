"""The documentation of every operator, read from the installed torch."""

import inspect
import re

import pytest
import torch

from gradstudio.engine.torch_docs import describe
from gradstudio.operators.catalogue import loader as catalogue
from gradstudio.operators.docstrings.model import Code, Fields, Span
from gradstudio.operators.docstrings.reader import read
from gradstudio.protocol.framing import Decoder, encode
from gradstudio.protocol.messages.events import Event
from gradstudio.protocol.messages.torch_docs import Describe, Described

LEFTOVERS = {
    "role": re.compile(r":[a-z]+:`|:(?:attr|func|math|class|meth|ref):"),
    "ticks": re.compile("`"),
    "LaTeX": re.compile(r"\\[a-zA-Z]{2,}"),
    "directive": re.compile(r"^\.\. |:: *$"),
}
MAX_RATE = 0.01


def asked(key: str) -> Described:
    return describe(Describe(request=1, operator=key))


def parts(found: object, kind: type) -> list[object]:
    """Everything of a kind within a docstring."""
    if isinstance(found, kind):
        return [found]
    if isinstance(found, tuple):
        return [part for each in found for part in parts(each, kind)]
    names = getattr(found, "__struct_fields__", ())
    return [part for name in names for part in parts(getattr(found, name), kind)]


def test_a_function_has_torchs_own_docstring() -> None:
    page = asked("torch.matmul")
    assert Decoder(Event).feed(encode(page)) == [page], "the page goes through the pipe"
    assert page.torch == torch.__version__ and page.error == "" and page.source == "torch.matmul"
    assert page.passages[0].text == inspect.getdoc(torch.matmul)


def test_a_method_that_says_see_is_followed_by_what_it_means() -> None:
    page = asked("torch.Tensor.abs")
    assert [passage.source for passage in page.passages] == ["torch.Tensor.abs", "torch.abs"]
    assert page.passages[1].text == inspect.getdoc(torch.abs)


def test_an_in_place_method_leads_to_the_function_by_way_of_its_twin() -> None:
    sources = [passage.source for passage in asked("torch.Tensor.add_").passages]
    assert sources == ["torch.Tensor.add_", "torch.Tensor.add", "torch.add"]


def test_a_long_docstring_that_mentions_another_stands_alone() -> None:
    assert [passage.source for passage in asked("torch.nn.functional.conv2d").passages] == [
        "torch.nn.functional.conv2d"
    ]


def test_pythons_operators_have_our_words_and_then_torchs() -> None:
    page = asked("operator.add")
    assert page.passages[0].source == "" and "a + b" in page.passages[0].text
    assert page.passages[1].text == inspect.getdoc(torch.add)


def test_a_constructor_has_the_class_and_its_signature() -> None:
    passage = asked("torch.nn.Linear").passages[0]
    assert passage.text == inspect.getdoc(torch.nn.Linear)
    assert passage.signature.startswith("(in_features: int, out_features: int, bias: bool = True")


def test_an_unknown_operator_is_told_in_words() -> None:
    assert asked("torch.no_such").error == "There is no operator 'torch.no_such'."


def test_every_operator_has_a_page() -> None:
    without = [operator.key for operator in catalogue.load() if asked(operator.key).error]
    total = len(catalogue.load())
    print(f"{total - len(without)} of {total} operators have a page")
    assert len(without) <= total * MAX_RATE, without


def test_no_page_shows_its_markup() -> None:
    """Measured over every page of the catalogue: roles, ticks, LaTeX and directives that a reader would see."""
    pages = {passage.source: passage.text for operator in catalogue.load() for passage in asked(operator.key).passages}
    left: dict[str, list[str]] = {kind: [] for kind in LEFTOVERS}
    for source, text in pages.items():
        shown = [span for span in parts(read(text), Span) if isinstance(span, Span) and "code" not in span.marks]
        for kind, pattern in LEFTOVERS.items():
            if any(pattern.search(span.text) for span in shown):
                left[kind].append(source)
    print(f"{len(pages)} docstrings;", "; ".join(f"{kind} left in {len(found)}" for kind, found in left.items()))
    for kind, found in left.items():
        assert len(found) <= len(pages) * MAX_RATE, (kind, found)


def test_arguments_are_found_where_torch_lists_them() -> None:
    """A docstring with a list of arguments yields entries, not running text or code."""
    missed, total = [], 0
    for operator in catalogue.load():
        for passage in asked(operator.key).passages[:1]:
            if re.search(r"^(Args|Arguments|Parameters):\s*\n\s+\w+ ?(\(.*\))?:", passage.text, re.MULTILINE):
                total += 1
                if not parts(read(passage.text), Fields):
                    missed.append(operator.key)
    print(f"arguments found in {total - len(missed)} of {total}")
    assert total > 200 and len(missed) <= total * MAX_RATE, missed


@pytest.mark.parametrize("key", ["torch.matmul", "torch.nn.CrossEntropyLoss", "torch.optim.SGD", "torch.einsum"])
def test_examples_keep_their_prompts_and_lines(key: str) -> None:
    text = asked(key).passages[0].text
    codes = [code.text for code in parts(read(text), Code) if isinstance(code, Code)]
    told = sum(code.count(">>>") for code in codes)
    assert told == len(re.findall(r"^\s*>>>", text, re.MULTILINE)) > 0
