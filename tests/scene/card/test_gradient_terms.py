"""An accumulated gradient as the sum of what each pass left."""

import pytest

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import GradPart, GradRow
from gradstudio.protocol.messages.records import Summary
from gradstudio.scene.card.gradient_terms import gradient_terms, part_words


def of(*values: float) -> Summary:
    shape = () if len(values) == 1 else (len(values),)
    return Summary(dtype="float32", shape=shape, value=values[0] if len(values) == 1 else list(values))


def row(total: Summary | None, *parts: Summary | None) -> GradRow:
    told = tuple(GradPart(k, k, part) for k, part in enumerate(parts, 1))
    return GradRow(node=ItemId("n1"), state="accumulated", grad=total, parts=told)


MANY = Summary(dtype="float32", shape=(100,), minimum=-1.0, maximum=1.0, rms=0.5)


@pytest.mark.parametrize(
    ("gradient", "words"),
    [
        (row(of(4.0)), ""),
        (row(of(4.0), of(4.0)), "left by backward 1"),
        (row(of(8.0), of(4.0), of(4.0)), "= 4 + 4"),
        (row(of(4.0), of(4.0), None), "= 4 + 0"),
        (row(of(4.0, 6.0), of(1.0, 2.0), of(3.0, 4.0)), "= [1 2] + [3 4]"),
        (row(of(15.0), *map(of, (1.0, 2.0, 3.0, 4.0, 5.0))), "= 1 + 2 + … + 5 (5 parts)"),
        (row(of(0.66667), of(0.33333), of(0.33333)), "≈ 0.3333 + 0.3333"),
    ],
)
def test_numbers_add_up_as_they_are_written(gradient: GradRow, words: str) -> None:
    assert gradient_terms(gradient) == words


def test_of_many_numbers_the_parts_are_norms_and_no_sum_is_claimed() -> None:
    words = gradient_terms(row(MANY, MANY, MANY))
    assert words == f"sum of {part_words(MANY)}, {part_words(MANY)}"
    assert "5" in part_words(MANY)  # 0.5 · √100
    assert gradient_terms(row(None, of(1.0), of(2.0))) == "sum of 1, 2"
