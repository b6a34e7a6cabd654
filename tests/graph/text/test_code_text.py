"""Undrawn Python: its names by its syntax, its text with other names and in a block; Python itself is the judge."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.graph.errors import Refused
from gradstudio.graph.text.code_names import names_of_code, open_line
from gradstudio.graph.text.code_text import indented, outdented, renamed_code


@pytest.mark.parametrize(
    ("code", "reads", "keeps", "later", "binds"),
    [
        ("import os.path as p, sys\nx = sys.argv", (), (), (), ("p", "sys", "x")),
        ("x += y", ("x", "y"), (), (), ("x",)),
        ("if c:\n    a = 1\nelse:\n    a = b = 2", ("c",), ("b",), (), ("a", "b")),
        ("for i in xs:\n    s = s + i", ("xs", "s"), ("i",), (), ("i", "s")),
        ("def f(a, b=c) -> d:\n    return a + g(b)", ("c", "d"), (), ("g",), ("f",)),
        ("f = lambda v, w=k: v + z", ("k",), (), ("z",), ("f",)),
        ("d = {k: v * q for k, v in m.items() if (n := k)}", ("m", "q"), ("n",), (), ("n", "d")),
        ("class A(B):\n    k = m\n    def f(self):\n        return k + self.k", ("B", "m"), (), ("k",), ("A",)),
        ("with open(p) as f, g as (a, b):\n    t = f", ("open", "p", "g"), ("t",), (), ("f", "a", "b", "t")),
        ("try:\n    a = 1\nexcept E as e:\n    a = str(e)\nb = a", ("E", "str", "a"), (), (), ("a", "b")),
        ("del x\nx = 1", ("x",), (), (), ("x",)),
        ("match v:\n    case [a, *b] if a:\n        c = b", ("v",), ("a", "b", "c"), (), ("a", "b", "c")),
        ("g = (x for x in xs)", ("xs",), (), (), ("g",)),
    ],
)
def test_names_are_read_and_bound_in_the_order_in_which_python_does(
    code: str, reads: tuple[str, ...], keeps: tuple[str, ...], later: tuple[str, ...], binds: tuple[str, ...]
) -> None:
    names = names_of_code(code)
    assert (names.reads, names.keeps, names.later, names.binds) == (reads, keeps, later, binds)


def test_what_reaches_for_names_that_no_syntax_shows_is_open() -> None:
    for code in ("exec(s)", "x = eval('y')", "globals()['a'] = 1", "vars()", "import __main__"):
        assert names_of_code(code).is_open
    for code in ("model.eval()", "vars(args)", "from m import a", "from m import *"):
        assert not names_of_code(code).is_open, "the reader says what a star may bind"


@pytest.mark.parametrize(
    ("code", "names", "wanted"),
    [
        ("import os\nos.path.join(x, 'os')  # os", {"os": "o", "x": "h"}, "import os as o\no.path.join(h, 'os')  # os"),
        ("from a import b as c, d\nc(d)", {"c": "u", "d": "v"}, "from a import b as u, d as v\nu(v)"),
        ("def f(a, os=os):\n    return os + x", {"f": "g", "os": "p", "x": "y"}, "def g(a, os=p):\n    return os + y"),
        ("z = [x for x in x]", {"x": "k"}, "z = [x for x in k]"),
        ("def step():\n    global n\n    n += 1", {"n": "q"}, "def step():\n    global q\n    q += 1"),
        ("é = x; x = é", {"x": "yy"}, "é = yy; yy = é"),
        ("print(f'{x} {y!r:>{x}}')", {"x": "abc"}, "print(f'{abc} {y!r:>{abc}}')"),
        ("a = b", {"a": "b", "b": "a"}, "b = a"),
    ],
)
def test_a_name_is_changed_where_it_is_meant(code: str, names: dict[str, str], wanted: str) -> None:
    assert renamed_code(code, names) == wanted


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("h = 1\nx = h", {"x": "h"}),
        ("def f(h):\n    return h + x", {"x": "h"}),
        ("import os.path\nos.path", {"os": "o"}),
        ("try:\n    pass\nexcept E as e:\n    pass", {"e": "f"}),
        ("class A:\n    x = x", {"x": "y"}),
    ],
)
def test_a_name_that_cannot_be_changed_with_certainty_stays(code: str, names: dict[str, str]) -> None:
    with pytest.raises(Refused):
        renamed_code(code, names)


CODES = st.sampled_from(
    [
        "x = 1",
        "if x:\n    y = '''a\n  b'''\n\n    # c",
        "for i in z:\n\tpass",
        "s = 'é'; t = '''\n'''",
        "f(\n  1)\n\n\ng()",
    ]
)


@given(CODES, st.integers(0, 3))
def test_a_code_comes_out_of_a_block_as_it_went_in(code: str, depth: int) -> None:
    lines = indented(code, "    " * depth)
    assert outdented(lines, 4 * depth) == code
    block = "".join(f"{'    ' * k}if 1:\n" for k in range(depth)) + "\n".join(lines)
    inner: ast.Module | ast.If = ast.parse(block)
    for _ in range(depth):
        inner = inner.body[0]  # type: ignore[assignment]  # it is an `if`
    assert [ast.dump(one) for one in inner.body] == [ast.dump(one) for one in ast.parse(code).body]


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("x = 1\ny = sorted(k for k in globals())", "y = sorted(k for k in globals())"),
        ("def f(a):\n    return dict(locals()), vars(), dir()", ""),
        ("def f(a, b=locals()):\n    return a", "def f(a, b=locals()):"),
        ("def f(a):\n    return globals()", "return globals()"),
        ("t = __import__('datetime').datetime.now()", ""),
        ("t = __import__('own').x", "t = __import__('own').x"),
    ],
)
def test_the_line_is_told_and_what_a_function_asks_of_its_own_names_is_no_such(code: str, line: str) -> None:
    assert open_line(code) == line
    assert names_of_code(code).is_open == bool(line)
