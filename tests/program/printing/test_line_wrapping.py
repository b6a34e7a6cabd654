"""Long lines are broken exactly as `ruff format` breaks them."""

import ast
import random
import re

import pytest

from gradstudio.program.printing.line_wrapping import wrap
from tests.program.sketch import formatted

NAMES = ("x", "weights", "hidden_state", "attention_scores", "q", "k_projected", "some_rather_long_name_here")
METHODS = ("sum", "view", "transpose", "masked_fill", "relu")
FUNCTIONS = ("torch.sum", "F.scaled_dot_product_attention", "nn.Linear", "torch.cat", "f")
PRECEDENCE = {
    "or": 0.4,
    "and": 0.6,
    "is not": 3,
    "in": 3,
    "==": 3,
    "<": 3,
    "|": 4,
    "&": 5,
    "+": 6,
    "-": 6,
    "*": 7,
    "@": 7,
    "/": 7,
    "**": 9,
}
SIMPLE = re.compile(r"[-+~]*(?:\d[\w.]*|[^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:e-\d+)?")


class Phrases:
    """Random expressions as the printer writes them, on one line."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def line(self) -> str:
        while True:
            before = self.random.choice(["y = ", "y = ", "y = ", "W += ", "", "a, b = ", "x[0] = ", "x.grad = "])
            line = before + self.phrase(self.random.randint(2, 4), 0)
            if 88 < len(line) < 320 and not re.search(r"-\w+ ?\*\*|\((-\w+|[\d.]+)\)\.", line):
                return line

    def phrase(self, depth: int, floor: float) -> str:
        kinds = [
            self.infix,
            self.infix,
            self.infix,
            self.choice,
            self.negated,
            self.chained,
            self.call,
            self.call,
            self.method,
            self.method,
            self.attribute,
            self.item,
            self.list,
        ]
        kind = self.random.choice(kinds) if depth > 0 and self.random.random() > 0.12 else self.atom
        text, precedence = kind(depth - 1)
        return text if precedence >= floor else f"({text})"

    def atom(self, depth: int) -> tuple[str, int]:
        text = self.random.choice((*NAMES, *NAMES, "2", "0.5", '"mean"', "torch.float64", "-x"))
        return text, 8 if text == "-x" else 9 if text[0].isdigit() else 11

    def infix(self, depth: int) -> tuple[str, float]:
        symbol = self.random.choice(list(PRECEDENCE))
        precedence = PRECEDENCE[symbol]
        floors = {9: (10, 10), 3: (4, 4)}.get(precedence, (precedence, precedence + (1 if precedence >= 1 else 0.2)))
        left, right = self.phrase(depth, floors[0]), self.phrase(depth, floors[1])
        hugs = symbol == "**" and SIMPLE.fullmatch(left) and SIMPLE.fullmatch(right)
        return (f"{left}**{right}" if hugs else f"{left} {symbol} {right}"), precedence

    def choice(self, depth: int) -> tuple[str, float]:
        return f"{self.phrase(depth, 0.4)} if {self.phrase(depth, 0.4)} else {self.phrase(depth, 0.2)}", 0.2

    def negated(self, depth: int) -> tuple[str, float]:
        text, _ = self.random.choice([self.chained, self.call, self.method, self.item, self.atom])(depth)
        return f"not {text}", 0.8

    def chained(self, depth: int) -> tuple[str, float]:
        operands = [self.phrase(depth, 4) for _ in range(self.random.randint(2, 3))]
        symbol = self.random.choice([" < ", " <= ", " is not "])
        return symbol.join(operands), 3

    def arguments(self, depth: int) -> str:
        given = [self.phrase(depth, 0) for _ in range(self.random.randint(0, 3))]
        keywords = self.random.sample(["dim", "keepdim", "bias"], self.random.randint(0, 2))
        return ", ".join([*given, *(f"{name}={self.phrase(depth, 0)}" for name in keywords)])

    def call(self, depth: int) -> tuple[str, int]:
        return f"{self.random.choice(FUNCTIONS)}({self.arguments(depth)})", 11

    def method(self, depth: int) -> tuple[str, int]:
        return f"{self.phrase(depth, 10)}.{self.random.choice(METHODS)}({self.arguments(depth)})", 11

    def attribute(self, depth: int) -> tuple[str, int]:
        return f"{self.phrase(depth, 10)}.{self.random.choice(['T', 'grad'])}", 11

    def item(self, depth: int) -> tuple[str, int]:
        parts = [self.random.choice([":", "t:n", "1:", self.phrase(depth, 0)]) for _ in range(3)]
        return f"{self.phrase(depth, 10)}[{', '.join(parts[: self.random.randint(1, 3)])}]", 11

    def list(self, depth: int) -> tuple[str, int]:
        return f"[{', '.join(self.phrase(depth, 0) for _ in range(self.random.randint(0, 5)))}]", 11


def assert_as_ruff(lines: list[str]) -> None:
    """Compares all lines at once: each is followed by a comment with its number."""
    source = "".join(f"{line}\n# {k}\n" for k, line in enumerate(lines))
    expected = re.split(r"\n# \d+\n", formatted(source))
    for line, text in zip(lines, expected, strict=False):
        wrapped = wrap(line, 0)
        assert "\n".join(wrapped.lines) == text.strip("\n"), line
        for offset, length, row, column in wrapped.pieces:
            assert line[offset : offset + length] == wrapped.lines[row][column : column + length]


@pytest.mark.parametrize("seed", range(3))
def test_random_expressions_are_broken_as_ruff_breaks_them(seed: int) -> None:
    phrases = Phrases(seed)
    lines = [phrases.line() for _ in range(250)]
    for line in lines:
        ast.parse(line)
    assert_as_ruff(lines)


@pytest.mark.parametrize("operator", ["=", "+="])
def test_assignments_of_every_length_are_broken_as_ruff_breaks_them(operator: str) -> None:
    targets = ["{}", "{}[0]", "{}.grad", "{}[i, j]", *(["{}, b"] if operator == "=" else [])]
    values = [
        "{}", "{}.T", "{}.f()", "{}.f(2)", "{}[2]", "{}.f(2).T", "{}.f(a, b)[2]", "{}(4)(5)", "{}[:, 1]", "-{}", '"{}"',
        "[{}, x]", "({}, x)", "{}, x", "f()({})", "-{}.f(2)", "{}.f(2) + 1", "x.f(2).g(3).h({})", "({} + x).f(2)",
    ]  # fmt: skip
    lines = [
        f"{target.format('t' * before)} {operator} {value.format('v' * after)}"
        for before in (40, 60, 80, 84, 90)
        for after in (10, 48, 75, 82, 84, 86)
        for target in targets
        for value in values
    ]
    assert_as_ruff([line for line in lines if len(line) > 88])


def test_wide_characters_take_two_columns() -> None:
    assert_as_ruff(
        [
            "y = torch.tensor([1.0, 2.0], '日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本')".replace(
                "'", '"'
            )
        ]
    )


@pytest.mark.parametrize(
    "head",
    [
        f"if {'v' * 60} < {'w' * 40}:",
        f"for i in range({'v' * 40}, {'w' * 40}):",
        f'with torch.autocast(device_type="{"c" * 40}", dtype=torch.float16):',
    ],
)
def test_heads_of_blocks_are_broken_as_ruff_breaks_them(head: str) -> None:
    assert "\n".join(wrap(head, 0).lines) == formatted(f"{head}\n    pass\n").removesuffix("\n    pass\n")
