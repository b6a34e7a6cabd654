"""What is offered for an argument: torch's default first, what stands there always among the rest."""

import pytest

from gradstudio.operators.literals.choices import DTYPES, LiteralChoice, choices_for, is_closed
from gradstudio.operators.model import Kind, Parameter


def texts(found: tuple[LiteralChoice, ...]) -> list[str]:
    return [offer.text for offer in found]


@pytest.mark.parametrize("kind", [Kind.TENSOR, Kind.FLOAT, Kind.INT, Kind.ANY])
def test_nothing_is_offered_where_anything_may_stand(kind: Kind) -> None:
    assert choices_for(Parameter("dim", kind, nullable=True), required=False, current="3") == ()


def test_choices_have_words_and_the_default_comes_first_once() -> None:
    parameter = Parameter("reduction", Kind.TEXT, default='"mean"', choices=('"mean"', '"sum"', '"odd"'))
    assert choices_for(parameter, required=False) == (
        LiteralChoice("mean", "", "torch's default"),
        LiteralChoice("sum", '"sum"', "one number: the sum"),
        LiteralChoice("odd", '"odd"', ""),
    )
    assert texts(choices_for(parameter, required=True)) == ['"mean"', '"sum"', '"odd"']


def test_what_stands_there_now_is_always_among_the_choices() -> None:
    parameter = Parameter("mode", Kind.TEXT, default="'r'", choices=("'r'", "'reduced'"))
    assert choices_for(parameter, required=False, current='"own"')[-1] == LiteralChoice("own", '"own"')
    assert texts(choices_for(parameter, required=False, current="'reduced'")) == ["", "'reduced'"]


def test_none_is_offered_where_it_is_accepted_and_not_there_already() -> None:
    nullable = Parameter("keep", Kind.BOOL, default="True", nullable=True)
    assert texts(choices_for(nullable, required=False)) == ["", "False", "None"]
    by_none = Parameter("keep", Kind.BOOL, default="None", nullable=True)
    assert texts(choices_for(by_none, required=False)) == ["", "True", "False"]
    chosen = Parameter("round", Kind.TEXT, nullable=True, choices=("None", "'floor'"))
    assert texts(choices_for(chosen, required=True)) == ["None", "'floor'"]


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [
        (Kind.DTYPE, "torch.float64", "float64"),
        (Kind.LAYOUT, "torch.sparse_csr", "sparse_csr"),
        (Kind.MEMORY_FORMAT, "torch.channels_last", "channels_last"),
    ],
)
def test_constants_of_torch_are_shown_by_their_last_word(kind: Kind, text: str, shown: str) -> None:
    found = {offer.text: offer for offer in choices_for(Parameter("p", kind, default="None"), required=False)}
    assert found[text].shown == shown
    assert found[text].words
    assert found[""].shown == "None"


def test_every_dtype_is_offered_under_a_heading() -> None:
    found = choices_for(Parameter("dtype", Kind.DTYPE), required=True)
    assert texts(found) == texts(DTYPES)
    assert {offer.group for offer in found} == {"floating point", "integer", "boolean", "complex"}


def test_devices_are_each_listed_once_behind_the_documents_own() -> None:
    devices = ("cpu", "cuda:0")
    device = Parameter("device", Kind.DEVICE, default="None")
    found = choices_for(device, required=False, devices=devices, document_device="cuda:0")
    assert texts(found) == ["", "device", '"cpu"', '"cuda:0"']
    assert found[1].shown == "document" and found[1].words.endswith("cuda:0")
    assert texts(choices_for(Parameter("to", Kind.DEVICE), required=True, devices=devices)) == ['"cpu"', '"cuda:0"']


def test_dimensions_are_counted_from_both_ends_when_the_sizes_are_known() -> None:
    found = choices_for(Parameter("dim", Kind.INT), required=True, sizes=(2, 5))
    assert texts(found) == ["0", "1", "-2", "-1"]
    assert [offer.words for offer in found[:2]] == ["size 2", "size 5, the last"]
    assert found[3] == LiteralChoice("-1", "-1", "the same as 1 (size 5)", "counted from the end")
    assert choices_for(Parameter("dim", Kind.INTS), required=True, sizes=()) == ()
    assert choices_for(Parameter("repeats", Kind.INT), required=True, sizes=(2, 5)) == ()


@pytest.mark.parametrize(
    ("parameter", "closed"),
    [
        (Parameter("p", Kind.TEXT, choices=("'a'",)), True),
        (Parameter("p", Kind.FLOAT, choices=("1.0",)), False),
        (Parameter("p", Kind.BOOL), True),
        (Parameter("p", Kind.DTYPE), False),
    ],
)
def test_only_texts_to_choose_from_and_truths_are_closed(parameter: Parameter, closed: bool) -> None:
    assert is_closed(parameter) is closed
