"""What a person typed, read: the words, and the hints to a form in them (`nn.`, a dot, capitals, a trailing `_`).

No knowledge of any one operator here.
"""

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final

import msgspec

MAX_LENGTH: Final = 80
MAX_TOKENS: Final = 8
STOP_WORDS: Final = frozenset(
    "a an the of to and or with for in by from is it its as my how make get over along out do i need want".split()
)
HOMES: Final = {
    "f": "torch.nn.functional.",
    "functional": "torch.nn.functional.",
    "nn.functional": "torch.nn.functional.",
    "nn": "torch.nn.",
    "init": "torch.nn.init.",
    "nn.init": "torch.nn.init.",
    "optim": "torch.optim.",
    "linalg": "torch.linalg.",
    "fft": "torch.fft.",
    "special": "torch.special.",
    "autograd": "torch.autograd.",
    "tensor": "torch.Tensor.",
    "operator": "operator.",
    "masked": "torch.masked.",
    "sparse": "torch.sparse.",
    "signal": "torch.signal.",
    "signal.windows": "torch.signal.windows.",
}
"""What may be typed before a dot, and where such operators live."""
FOREIGN: Final = frozenset("np numpy jnp jax tf tensorflow keras scipy sp math sklearn mx cp cupy".split())
"""Other libraries: their names are words like any other."""
SHARED: Final = frozenset({"linalg", "fft", "special"})
"""Parts that they have under the same name."""
LAYER_HOMES: Final = frozenset({"layers", "losses"})
"""Parts of other libraries that hold what torch has as modules."""

_SYMBOL = re.compile(
    r"(?P<left>[A-Za-z]\w?|\d{1,3}(?:\.\d*)?)?\s*(?P<symbol>[-+*/%@&|^~<>=!]+)\s*(?P<right>[A-Za-z0-9.]{1,3})?"
)
_INDEXED = re.compile(r"(?P<receiver>[A-Za-z]\w*)?\s*\[.*?(?P<assigned>\]\s*=(?!=))?[^=]*")
_DOTTED = re.compile(r"(?P<home>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?\.(?P<rest>[A-Za-z_]?\w*(?: \w+)*)")
_LAYER = re.compile(r"(?P<name>.+) (?:layer|module)s?", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Form(StrEnum):
    """The form of an operator that somebody asks for by the way of typing."""

    ANY = "any"
    METHOD = "method"  # x.sum
    MODULE = "module"  # nn.Linear, LayerNorm
    IN_PLACE = "in_place"  # add_


class Query(msgspec.Struct, frozen=True):
    """What was typed.

    Attributes:
        exact: as it was typed, without spaces around it and what follows a "(".
        text: the same in lower case, without what stands before the dot.
        squashed: its letters and digits alone, without spaces and underscores.
        tokens: its words, without those that say nothing.
        home: where to look first, such as `torch.nn.functional.`; empty for anywhere.
    """

    exact: str
    text: str
    squashed: str
    tokens: tuple[str, ...]
    home: str
    form: Form


@lru_cache(64)
def read(typed: str) -> Query:
    """Read what was typed, however odd it is."""
    exact = " ".join(typed[:MAX_LENGTH].split())
    if symbol := _symbol(exact):
        return Query(exact, symbol, "", (), "", Form.ANY)
    bare = re.sub(r"(?<=.)\(.*$", "", exact).strip()
    home, rest, form = _home(bare)
    if form is Form.ANY and re.search(r"[a-z0-9]_$", rest):
        form = Form.IN_PLACE
    elif form is Form.ANY and re.search(r"[A-Z]", rest):
        form = Form.MODULE
    if form is Form.ANY and (layer := _LAYER.fullmatch(rest)):
        rest, form = layer["name"], Form.MODULE
    text = rest.lower()
    tokens = tuple(token for token in words(rest) if token not in STOP_WORDS)
    return Query(bare, text, squash(text), tokens[:MAX_TOKENS], home, form)


@lru_cache(8192)
def squash(text: str) -> str:
    """The letters and digits alone, in lower case: `cross_entropy`, `CrossEntropy` and `cross entropy` are one."""
    return "".join(_WORD.findall(text.lower()))


@lru_cache(8192)
def words(text: str) -> tuple[str, ...]:
    """The words of a name or a sentence, in lower case."""
    return tuple(_WORD.findall(_HUMP.sub(" ", text).lower()))


def _symbol(exact: str) -> str:
    """The operator of `a @ b`, `**2`, `-x` or `x[0]` as the catalogue writes it; "" for anything else."""
    if found := _SYMBOL.fullmatch(exact):
        left, symbol, right = found["left"], found["symbol"], found["right"]
        if (left, symbol) == ("1", "/"):
            return ""  # one over: there is a word for it
        return f"{symbol}a" if symbol in "-+~" and right and not left else symbol
    if found := _INDEXED.fullmatch(exact):
        return "[ ] =" if found["assigned"] else "[ ]"
    return ""


def _home(bare: str) -> tuple[str, str, Form]:
    """What stands before the last dot, read: the home it names, what follows, and the form it means."""
    found = _DOTTED.fullmatch(bare)
    if found is None:
        return "", bare, Form.ANY
    home = (found["home"] or "").lower()
    rest = found["rest"]
    first, _, inner = home.partition(".")
    if first == "torch":
        path = HOMES.get(inner, f"torch.{inner}." if inner else "torch.")
    elif first in FOREIGN:
        layers = Form.MODULE if LAYER_HOMES & set(home.split(".")) else Form.ANY
        last = home.rpartition(".")[2]
        return HOMES[last] if last in SHARED else "", rest, layers
    else:
        path = HOMES.get(home, "")
    if not path or path == "torch.Tensor.":
        return "", rest, Form.METHOD
    return path, rest, Form.ANY
