"""Names of what is inlined may be others; whatever else a program says may not."""

import pytest

from gradstudio.program.original.other_names import is_same_but_for

SAME = {
    "a name": ("h = x + 1\ny = h * h", "hidden = x + 1\ny = hidden * hidden"),
    "a name in a text with a figure": ("h = x + 1\nprint(f'{h:.2f}')", "g = x + 1\nprint(f'{g:.2f}')"),
}
OTHER = {
    "a method": ("h = x.h()", "g = x.g()"),
    "an attribute": ("h = x.h", "g = x.g"),
    "a module's function": ("h = torch.h(x)", "g = torch.g(x)"),
    "an argument": ("h = f(x, h=1)", "g = f(x, g=1)"),
    "a text": ("h = x + 1\nprint('h', h)", "g = x + 1\nprint('g', g)"),
    "two names of one": ("h = x + 1\ny = h * h", "g = x + 1\ny = g * k"),
    "one name of two": ("h = x + 1\nk = x + 2\ny = h * k", "g = x + 1\ng = x + 2\ny = g * g"),
    "a name that another has": ("h = x + 1\ny = h * x", "x = x + 1\ny = x * x"),
    "a sign": ("h = x + 1", "g = x - 1"),
    "a further statement": ("h = x + 1", "g = x + 1\nprint(g)"),
    "a name that is not inlined": ("y = x + 1", "z = x + 1"),
}


@pytest.mark.parametrize("case", SAME)
def test_names_may_be_others(case: str) -> None:
    one, other = (text.split("\n") for text in SAME[case])
    assert is_same_but_for(frozenset({"h", "k"}), one, other)


@pytest.mark.parametrize("case", OTHER)
def test_nothing_else_may_be(case: str) -> None:
    one, other = (text.split("\n") for text in OTHER[case])
    assert not is_same_but_for(frozenset({"h", "k"}), one, other)
