"""What a generated row says of itself: torch's own first sentence without markup, and words to find it by."""

import inspect
import re
from functools import cache

from tools.catalogue.selection import Row
from tools.catalogue.signatures import resolve

LONGEST = 80
"""Characters of a summary."""

_ROLE = re.compile(r":\w+:`~?\.?(?:[^`<]*<)?([^`>]*)>?`")
_HEAD = re.compile(r"^\s*(?:[\w.]+\.)?\w+\s*\(.*?\)\s*(?:->.*)?$")
_REFERENCE = re.compile(r"(?:See|Alias (?:for|of)|In-place version of|In-place)\s+:\w+:`~?\.?([\w.]+)(?:\(\))?`")
_LEAD = re.compile(
    r"^(?:Returns|Computes|Return|Compute) (?:a |an |the )?(?:new )?(?:tensor )?(?:with |of |containing )?",
    re.IGNORECASE,
)
_SKIPPED = (">>>", "Args", "Note", "Warning", "..", "Example", "_", "Shape", "Supports", "Keyword", "Parameters")
_PARAMETER = r"^\s+\*?{name}\s*(?:\([^\n]*?\))?\s*:\s*(.*?)(?=^\s+\*?\w+\s*(?:\([^\n]*\))?\s*:|^\s*$|\Z)"


def summary(path: str, by_hand: dict[str, Row]) -> str:
    """One line of at most `LONGEST` characters, without a full stop."""
    word = path.rsplit(".", 1)[1]
    base = _base(path, by_hand)
    if base is not None:
        is_method = path.startswith("torch.Tensor.")
        head = f"x.{word}(): " if is_method else ""
        same = base.target.rsplit(".", 1)[1]
        tail = ", in place" if word.endswith("_") else "" if same == word else f"; the same as {same}"
        text = re.sub(r"^x\.\w+\([^)]*\):? ?", "", base.summary) or base.summary
        return _fitting(f"{head}{_lower(text) if head else text}{tail}")
    text = _from_documentation(path) or word.strip("_").replace("_", " ").capitalize()
    return _fitting(f"{text}, in place" if _is_in_place(path) and "in-place" not in text.lower() else text)


def words(path: str, category: str, by_hand: dict[str, Row]) -> tuple[str, ...]:
    """Words a person may type: those of the base's line, the parts of the name, what kind of thing it is."""
    word = path.rsplit(".", 1)[1]
    base = _base(path, by_hand)
    found = [w for w in base.words if w not in ("method", "in place")] if base is not None else []
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", word)
    found += [part.lower() for part in parts if len(part) > 2 and part.lower() != word.lower()]
    if word.endswith("_") and not path.startswith("torch.nn.init."):
        found.append("in place")
    if path.startswith("torch.nn.") and word[0].isupper() and category != "Losses":
        found.append("layer")
    if path.startswith("torch.Tensor."):
        found.append("method")
    if category == "Losses":
        found.append("loss")
    return tuple(dict.fromkeys(found))


def base_cuts(path: str, by_hand: dict[str, Row]) -> bool:
    """Whether the path is another form of a row whose result never requires grad."""
    base = _base(path, by_hand)
    return base is not None and base.first("cuts") is not None and not path.endswith("_")


def hint(path: str, name: str) -> str:
    """What torch's documentation says of an argument, in one short line; "" when it says nothing."""
    text = _documentation(path)
    match = re.search(_PARAMETER.format(name=re.escape(name)), text, re.MULTILINE | re.DOTALL)
    if match is None:
        return ""
    sentence = _sentence(_clean(match.group(1)))
    sentence = re.sub(r"\s*Default:?.*$", "", sentence).rstrip(" .,;:")
    return sentence if 3 < len(sentence) <= LONGEST else ""


def choices(path: str, name: str) -> tuple[str, ...]:
    """The texts that torch's documentation lists for an argument, quoted; empty when it lists none."""
    text = _documentation(path)
    match = re.search(_PARAMETER.format(name=re.escape(name)), text, re.MULTILINE | re.DOTALL)
    if match is None:
        return ()
    found = re.findall(r"``?['\"]([A-Za-z][\w-]*)['\"]``?", match.group(1))
    return tuple(f"'{word}'" for word in dict.fromkeys(found)) if len(set(found)) > 1 else ()


@cache
def _documentation(path: str) -> str:
    """The docstring; where there is none, or it only says "See torch.x", that of the other."""
    text = _own_documentation(path)
    other = _referred(path, text) if len(text) < 300 else ""
    return (_documentation(other) or text) if other else text


def _own_documentation(path: str) -> str:
    found = resolve(path).__doc__
    return inspect.cleandoc(found) if isinstance(found, str) else ""


@cache
def _referred(path: str, text: str) -> str:
    """The path that a documentation points to, or the base that a method or variant surely has; "" if none."""
    reference = _REFERENCE.search(text)
    names = [reference.group(1)] if reference else []
    word = path.rsplit(".", 1)[1].rstrip("_")
    if not text:
        names = [f"{head}.{word}" for head in ("torch", "torch.Tensor", "torch.nn.functional")]
    for name in names:
        for head in ("", "torch.", f"{path.rsplit('.', 1)[0]}."):
            full = f"{head}{name}"
            if full != path and full.startswith("torch.") and _exists(full) and (text or _own_documentation(full)):
                return full
    return ""


def _exists(path: str) -> bool:
    try:
        resolve(path)
    except (AttributeError, ValueError, ImportError):
        return False
    return True


def _base(path: str, by_hand: dict[str, Row]) -> Row | None:
    """The hand-written row that the path is a method, an in-place variant or an alias of."""
    seen = {path}
    at = path
    for _ in range(3):
        for name in (at, _plain(at)) if not at.endswith("_") or at == path else (_plain(at), at):
            if name in by_hand and name != path:
                return by_hand[name]
        at = _referred(at, _own_documentation(at)) if len(_own_documentation(at)) < 300 else ""
        if not at or at in seen:
            return None
        seen.add(at)
    return None


def _is_in_place(path: str) -> bool:
    return path.endswith("_") and not path.startswith("torch.nn.")


def _plain(path: str) -> str:
    """The function that a method, an alias in a namespace or an in-place variant belongs to."""
    head, word = path.rsplit(".", 1)
    if head in ("torch", "torch.Tensor", "torch.special", "torch.nn.functional", "torch.masked", "torch.linalg"):
        return f"torch.{word.rstrip('_')}"
    return path


def _from_documentation(path: str) -> str:
    for paragraph in re.split(r"\n\s*\n", _documentation(path)):
        lines = [line for line in paragraph.splitlines() if not _HEAD.match(line)]
        text = _clean(" ".join(lines))
        if text and not text.startswith(_SKIPPED):
            return _capital(_LEAD.sub("", _sentence(text)))
    return ""


_SYMBOLS = {
    "geq": "≥", "ge": "≥", "leq": "≤", "le": "≤", "times": "×", "neq": "≠", "cdot": "·", "pi": "π", "sum": "Σ",
    "infty": "∞", "ast": "*", "alpha": "α", "beta": "β", "lambda": "λ", "gamma": "γ", "sqrt": "√", "left": "",
    "right": "", "log": "log", "in": "∈", "odot": "⊙", "otimes": "⊗", "sigma": "σ", "mu": "μ", "ldots": "…",
}  # fmt: skip


def _clean(text: str) -> str:
    text = re.sub(r":math:`([^`]*)`", r"\1", text)
    text = re.sub(r"`([^`<]*)\s*<[^`>]*>`__?", r"\1", text)
    text = _ROLE.sub(r"\1", text)
    text = re.sub(r"``?([^`]*)``?_*", r"\1", text)
    text = re.sub(r"\\(?:text|mathrm|mathbf|mathbb|boldsymbol)\{([^}]*)\}", r"\1", text)
    text = re.sub(r"\\([a-zA-Z]+)", lambda match: _SYMBOLS.get(match.group(1), match.group(1)), text)
    text = re.sub(r"\\(.)", r"\1", text)
    text = re.sub(r"\.\. \w+::.*", "", text)
    return re.sub(r"\s+", " ", text.replace("**", "").replace("{", "").replace("}", "")).strip()


def _sentence(text: str) -> str:
    return re.split(r"(?<=[a-z0-9)\]])(?<!i\.e)(?<!e\.g)\.(?:\s|$)", text, maxsplit=1)[0].strip()


def _fitting(text: str) -> str:
    text = text.strip().rstrip(".:;,").replace(" | ", ", ")
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - 2].rsplit(' ', 1)[0].rstrip(' .,;:(')} …"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lower(text: str) -> str:
    return text if text[1:2].isupper() or not text[:1].isalpha() else text[:1].lower() + text[1:]
