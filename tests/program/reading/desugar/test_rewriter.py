"""What a canvas has no statement for is written out before it is read; nothing of it is evaluated."""

import ast

import pytest

from gradstudio.program.reading.desugar.rewriter import desugar

CASES = {
    "captured": (
        "w = f()\ndef g(x, k=2):\n    return x * w\ny = g(1)\nz = g(1, 3)",
        "def g(x, w, k=2):\n    return x * w\nw = f()\ny = g(1, w=w)\nz = g(1, w, 3)",
    ),
    "second name": (
        "def g(x):\n    return x\nh = g\ny = h(1)",
        "def g(x):\n    return x\ny = g(1)",
    ),
    "elements": (
        "x = [k * n for k in range(3)]",
        "x = [0 * n, 1 * n, 2 * n]",
    ),
    "loop": (
        "x = [k for k in y]",
        "x = []\nfor k in y:\n    x.append(k)",
    ),
    "dict": (
        "x = {k.n: f(v) for k, v in y if v}",
        "x = {}\nfor k, v in y:\n    for _ in range(bool(v)):\n        x[k.n] = f(v)",
    ),
    "dict of what is counted": ("x = {k: k * k for k in range(3)}", "x = {0: 0, 1: 1, 2: 4}"),
    "dict that reads its own name": (
        "x = {k: f(v) for k, v in x.items()}",
        "values = {}\nfor k, v in x.items():\n    values[k] = f(v)\nx = values",
    ),
    "dict that calls for key and value": ("x = {f(k): g(k) for k in y}", "x = {f(k): g(k) for k in y}"),
    "dict in a dict": (
        "x = {k: {j: k for j in z} for k in y}",
        "x = {}\nfor k in y:\n    values = {}\n    for j in z:\n        values[j] = k\n    x[k] = values",
    ),
    "sum": (
        "x = sum(k for k in y)",
        "values = []\nfor k in y:\n    values.append(k)\nx = sum(values)",
    ),
    "called before": (
        "x = f(1) + sum([k for k in y])",
        "part = f(1)\nvalues = []\nfor k in y:\n    values.append(k)\nx = part + sum(values)",
    ),
    "called before, by name": (
        "x = f(dict(a=g(1), h=f([k for k in y]), b=g(2)))",
        "a = g(1)\nvalues = []\nfor k in y:\n    values.append(k)\nx = f(dict(a=a, h=f(values), b=g(2)))",
    ),
    "called before, counted": ("x = f(1) + sum([k for k in range(2)])", "x = f(1) + sum([0, 1])"),
    "called before what is chosen": (
        "x = f(1) + ([k for k in y] if c else f(2))",
        "x = f(1) + ([k for k in y] if c else f(2))",
    ),
    "called before in a text": ('x = f"{f(1)} {[k for k in y]}"', "x = f'{f(1)} {[k for k in y]}'"),
    "called on what is called": (
        "x = f(1).g([k for k in y])",
        "part = f(1)\nvalues = []\nfor k in y:\n    values.append(k)\nx = part.g(values)",
    ),
    "hidden name": (
        "k = 1\nx = [k for k in y]",
        "k = 1\nx = []\nfor k2 in y:\n    x.append(k2)",
    ),
    "walrus": (
        "y = (n := x.sum()) * 2",
        "n = x.sum()\ny = n * 2",
    ),
    "choice": (
        "y = 1\nif x > 0:\n    y = 2",
        "y = 1\ny = 2 if x > 0 else y",
    ),
    "either": (
        "if x > 0:\n    y = 2\nelse:\n    y = 3",
        "y = 2 if x > 0 else 3",
    ),
    "unbound": (
        "if x > 0:\n    y = 2",
        "for _ in range(bool(x > 0)):\n    y = 2",
    ),
    "prints": (
        "if x > 0:\n    print(x)",
        "if x > 0:\n    print(x)",
    ),
    "decided": (
        "def f(x, m=None):\n    if m is not None:\n        x = x * m\n    return x\ny = f(1)",
        "def f(x, m=None):\n    return x\ny = f(1)",
    ),
    "decided otherwise": (
        "def f(x, m=None):\n    if m is not None:\n        x = x.g(m)\n    return x\ny = f(1, m=2)",
        "def f(x, m=None):\n    x = x.g(m)\n    return x\ny = f(1, m=2)",
    ),
    "called under another name": (
        "class N:\n    def forward(self, x, m=None):\n        if m is None:\n"
        "            print(x)\n            x = x.g()\n"
        "        return x\nn = N()\nn(1)\no = n\no(1, 2)",
        "class N:\n    def forward(self, x, m=None):\n        for _ in range(bool(m is None)):\n            print(x)\n"
        "            x = x.g()\n        return x\nn = N()\nn(1)\no = n\no(1, 2)",
    ),
    "may be unbound": (
        "if a:\n    y = 1\nif b:\n    y = 2",
        "for _ in range(bool(a)):\n    y = 1\nfor _ in range(bool(b)):\n    y = 2",
    ),
    "returned": (
        "def f(x):\n    if x > 0:\n        return x\n    return -x",
        "def f(x):\n    result = x if x > 0 else -x\n    return result",
    ),
    "behind a block": (
        "def f(x):\n    with g():\n        return x",
        "def f(x):\n    with g():\n        result = x\n    return result",
    ),
    "main": (
        "if __name__ == '__main__':\n    x = 1\n    y = x if x else 2",
        "x = 1\ny = x if x else 2",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_does_the_same(name: str) -> None:
    text, plainer = CASES[name]
    tree = ast.parse(text)
    desugar(tree)
    body = sorted(tree.body, key=lambda one: not isinstance(one, ast.FunctionDef))
    assert "\n".join(ast.unparse(one) for one in body).replace("\n\n", "\n") == plainer
