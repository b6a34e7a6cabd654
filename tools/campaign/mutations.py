"""Makes a sound input into a hostile one: by bytes, by words, and by the values of a JSON text."""

import copy
import json
import re
from collections.abc import Sequence
from random import Random
from typing import Any

BYTES = (b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\x1a", b'"', b"{", b"[", b"\xed\xa0\x80", b"\x80", b"\\u")
WORDS = (
    *("x", "1", "-", "**", "//", "@", "~", "not", "lambda", "await", "yield", "*", "...", ":=", ";", "\\", "\\\n"),
    *("(", ")", "[", "]", "{", "}", '"', "'", '"""', "f'{x}'", 'f"{x!r:>{y}}"', "b'\\x00'", "'\\N{DASH}'", "#", "\t"),
    *("if x else 0", "for i in range(3):", "while True:", "def f(a, b=1, *c, d, **e):", "class A(nn.Module):", "pass"),
    *("import os", "__import__('os')", "exec('1')", "eval('1')", "open('x', 'w')", "globals()", "().__class__"),
    *("10**10", "1e999", "nan", "inf", "1j", "0x_f", "1_000", "9" * 400, "-0.0", "True", "None", "torch", "nn", "self"),
    *("torch.ones(2)", "x.shape", "x.grad_fn", "with torch.no_grad():", "return x", "global x", "del x", "assert x"),
    *("\u00e9", "\u0660", "\u200b", "\u202e", "\ufeff", "\ud800", "\U0001f600", "\x00", "\x0c", "\r", "\u2028", "ﬁ"),
    *("try:", "except:", "match x:", "case _:", "@torch.no_grad()", "x = y = z", "x, *y = z", "x[1:, None]", "{0}"),
    *("{", "{x}", "%s", "{0.forward.__globals__}", "-> int", "x: int = 3", "async def f():", "raise x", "nonlocal x"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**70), 1e308, 0.5, float("nan"), float("inf"), "", " "),
    *([], {}, [[]], [None], {"": None}, "\ud800", "\x00", "x" * 5000, "../../etc/passwd", "n1", "root", "1e999"),
    *("torch.add", "python.call", "python.choice", "operator.add", "{0}", "lambda: 0", "__class__", [0] * 300),
)
PIECES = re.compile(r"\w+|\s+|[^\w\s]")
MOST_COPIES = 20_000
LARGEST = 1_000_000
"""Characters that one repetition may make: a word that was repeated before is long."""


def of_bytes(generator: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The data after one to six changes that know nothing of what it means."""
    for _ in range(generator.randint(1, 6)):
        at, length = generator.randint(0, len(data)), generator.choice((1, 1, 2, 4, 16, 200))
        match generator.randrange(7):
            case 0:
                data = data[:at] + bytes(generator.randrange(256) for _ in data[at : at + length]) + data[at + length :]
            case 1:
                data = data[:at] + data[at + length :]
            case 2:
                data = data[:at] + generator.choice(BYTES) + data[at:]
            case 3:
                data = data[:at] + data[at : at + length] * generator.choice((2, 3, 50)) + data[at + length :]
            case 4:
                data = data[:at]
            case 5:
                other = generator.choice(others)
                data = data[:at] + other[generator.randint(0, len(other)) :]
            case _:
                to = generator.randint(0, len(data))
                data = data[:at] + data[to : to + length] + data[at + length :]
    return data


def of_text(generator: Random, text: str, others: Sequence[str]) -> str:
    """The text after one to five changes of words and lines."""
    for _ in range(generator.randint(1, 5)):
        text = generator.choice((_words, _words, _words, _lines, _nest, _repeat, _splice))(generator, text, others)
    return text


def of_json(generator: Random, text: str) -> str:
    """The JSON text with one to four of its values changed, and sometimes its words."""
    content = json.loads(text)
    for _ in range(generator.randint(1, 4)):
        content = of_values(generator, content)
    text = json.dumps(content)
    return _odd_numbers(generator, text) if generator.random() < 0.2 else text


def _words(generator: Random, text: str, others: Sequence[str]) -> str:
    pieces = PIECES.findall(text)
    if not pieces:
        return generator.choice(WORDS)
    at = generator.randrange(len(pieces))
    match generator.randrange(5):
        case 0:
            pieces[at] = generator.choice(WORDS)
        case 1:
            pieces.insert(at, generator.choice(WORDS))
        case 2:
            del pieces[at]
        case 3:
            to = generator.randrange(len(pieces))
            pieces[at], pieces[to] = pieces[to], pieces[at]
        case _:
            pieces[at] = pieces[generator.randrange(len(pieces))]
    return "".join(pieces)


def _lines(generator: Random, text: str, others: Sequence[str]) -> str:
    lines = text.split("\n")
    at = generator.randrange(len(lines))
    match generator.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(generator.randint(0, len(lines)), lines[at])
        case 2:
            lines[at] = generator.choice(("    ", "\t", " ", "        ", "\x0c")) + lines[at]
        case 3:
            lines[at] = lines[at].lstrip() + generator.choice((" \\", "  # x", ";", ":", "\\"))
        case _:
            lines.insert(at, generator.choice(("\\", "    \\", "", "    ", generator.choice(WORDS))))
    return "\n".join(lines)


def _nest(generator: Random, text: str, others: Sequence[str]) -> str:
    opened, closed = generator.choice(
        (("(", ")"), ("[", "]"), ("-", ""), ("f(", ")"), ("x if ", " else y"), ("{", "}"))
    )
    count, at = generator.choice((1, 5, 60, 150, 1500)), generator.randint(0, len(text))
    end = generator.randint(at, min(len(text), at + 40))
    return text[:at] + opened * count + text[at:end] + closed * count + text[end:]


def _repeat(generator: Random, text: str, others: Sequence[str]) -> str:
    pieces = PIECES.findall(text) or ["x"]
    at, length = generator.randrange(len(pieces)), generator.choice((1, 2, 4))
    part = "".join(pieces[at : at + length])
    copies = min(generator.choice((2, 10, 100, 1000, MOST_COPIES // max(1, len(part)))), LARGEST // max(1, len(part)))
    return "".join(pieces[:at]) + part * copies + "".join(pieces[at:])


def _splice(generator: Random, text: str, others: Sequence[str]) -> str:
    other = generator.choice(others)
    return text[: generator.randint(0, len(text))] + other[generator.randint(0, len(other)) :]


def of_values(generator: Random, content: Any) -> Any:
    """What JSON or msgpack said, with one value, of all values alike, changed."""
    places: list[tuple[Any, Any]] = []
    _walk(content, places)
    if not places:
        return copy.deepcopy(generator.choice(VALUES))
    holder, key = generator.choice(places)
    other_holder, other_key = generator.choice(places)
    match generator.randrange(7):
        case 0 | 1:
            holder[key] = copy.deepcopy(generator.choice(VALUES))
        case 2:
            del holder[key]
        case 3 if isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        case 3:
            holder[generator.choice(WORDS)] = copy.deepcopy(holder[key])
        case 4 if isinstance(holder[key], str):
            holder[key] = of_text(generator, holder[key], [json.dumps(other_holder[other_key], default=str)])
        case 4 | 5:
            holder[key] = copy.deepcopy(other_holder[other_key])
        case _:
            holder[key] = _deep(generator, holder[key])
    return content


def _walk(content: Any, places: list[tuple[Any, Any]]) -> None:
    waiting = [content]
    while waiting:
        one = waiting.pop()
        keys: Sequence[Any] = ()
        if isinstance(one, dict):
            keys = list(one)
        elif isinstance(one, list):
            keys = range(len(one))
        places += [(one, key) for key in keys]
        waiting += [one[key] for key in keys]


def _deep(generator: Random, value: Any) -> Any:
    for _ in range(generator.choice((1, 3, 50))):
        value = [value] if generator.random() < 0.5 else {"items": value}
    return value


def _odd_numbers(generator: Random, text: str) -> str:
    """One number of the text in a spelling that JSON knows and few expect."""
    numbers = list(re.finditer(r"(?<![\w\"])-?\d+(\.\d+)?(?![\w\"])", text))
    if not numbers:
        return text
    found = generator.choice(numbers)
    odd = generator.choice(
        ("1e999", "-1e999", "1" + "0" * 400, "9" * 5000, "0." + "0" * 400 + "1", "NaN", "1e-400", "01")
    )
    return text[: found.start()] + odd + text[found.end() :]
