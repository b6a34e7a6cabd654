"""What a person types or pastes, in the words of Python: signs of a word processor, other spellings, other brackets.

Only the spelling is changed here; whether the argument takes the value is asked elsewhere.
"""

import re

from gradstudio.late_pattern import late
from gradstudio.operators.literals.torch_names import DTYPE_ALIASES, DTYPES

_QUOTED_OR_NOT = late(
    r"""(?P<quoted>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|“(?P<curly>[^“”"\\\n]*)”|[^"'“]+"""
    r"""|"(?:[^"\\\n]|\\.)*|'(?:[^'\\\n]|\\.)*|.""",
    re.DOTALL,
)
"""A quote that nothing closes takes what follows with it: it is looked for once, not from each quote behind it."""
_TYPOGRAPHIC = str.maketrans(
    {"−": "-", "\u00a0": " ", "\u202f": " ", "“": '"', "”": '"', "…": "...", "×": "x", "·": "*", "∞": "inf"}
)
_TIMES_PI = late(r"(?<![\w.])(\d+(?:\.\d*)?)([πτ])")
_IMAGINARY = late(r"(?<![\w.])((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)i\b")
_YES = frozenset({"yes", "on", "true", "t", "1"})
_NO = frozenset({"no", "off", "false", "f", "0"})
_TEXT_QUOTES = {"“": "”", "„": "“", "‘": "’", "«": "»", "`": "`"}
_SIZE = late(r"(?:torch\.)?Size\((.*)\)", re.DOTALL)
_CROSS = late(r"(?<=\d)\s*(?:[xX]|\bby\b)\s*(?=[-+]?\d)")
_GAP = late(r"(?<=\d)\s+(?=[-+]?\d)")
_SIZES = late(r"[-+]?\d+(?:(?:\s*[xX]\s*|\s+by\s+|\s+)[-+]?\d+)+")
_INDEXED = late(r"(?:[^\W\d]\w*(?:\.[^\W\d]\w*)*)?\s*\[(.*)\]", re.DOTALL)
_DEVICE_CALL = late(r"""(?:torch\.)?device\(\s*(?:type=)?["']?([\w:]+)["']?\s*(?:,\s*(?:index=)?(\d+)\s*)?\)""")
_SLICE_CALL = late(r"\bslice\(([^()]*)\)")


def without_typography(text: str) -> str:
    """Plain signs for those of a word processor or a web page; what stands between quotes is left as it is."""
    return _QUOTED_OR_NOT.sub(_plain_signs, text)


def _plain_signs(match: re.Match[str]) -> str:
    if match["curly"] is not None:
        return f'"{match["curly"]}"'
    if match["quoted"]:
        return match["quoted"]
    text = match[0].translate(_TYPOGRAPHIC)
    return _IMAGINARY.sub(r"\1j", _TIMES_PI.sub(r"\1 * \2", text))


def switch(text: str) -> str:
    """``True`` and ``False`` for the other words for them."""
    word = text.lower()
    if word in _YES:
        return "True"
    return "False" if word in _NO else text


def strip_typed_quotes(text: str) -> str:
    """A text without the quotes of a word processor around it."""
    closing = _TEXT_QUOTES.get(text[:1])
    return text[1:-1] if closing and len(text) > 1 and text.endswith(closing) else text


def sizes(text: str) -> str:
    """`2x3`, `2 by 3`, `2 3` and `torch.Size([2, 3])` as Python writes them: `2, 3`."""
    if (match := _SIZE.fullmatch(text)) is not None:
        return match[1].strip() or "()"
    bare = text[1:-1].strip() if text[:1] in "([" and text[-1:] in ")]" else text
    return _GAP.sub(", ", _CROSS.sub(", ", bare)) if _SIZES.fullmatch(bare) else text


def index(text: str) -> str:
    """What stands between [ and ], of `x[:, 1:]`, `[:, 1:]` and `slice(1, 3)`."""
    match = _INDEXED.fullmatch(text)
    if match is not None and _is_one_bracket(text[text.index("[") :]) and (text[0] != "[" or _has_slice(match[1])):
        text = match[1].strip()
    return _SLICE_CALL.sub(_slice, text)


def _is_one_bracket(text: str) -> bool:
    """Whether the first bracket is closed by the last."""
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if depth == 0:
            return k == len(text) - 1
    return False


def _has_slice(inner: str) -> bool:
    """Whether what is in brackets can be no list of positions, and so is a whole index."""
    return any(sign in inner for sign in (":", "...", "None", "newaxis"))


def _slice(match: re.Match[str]) -> str:
    parts = [part.strip().replace("None", "") for part in match[1].split(",")]
    return f":{parts[0]}" if len(parts) == 1 else ":".join(parts)


def dtype_name(text: str) -> str:
    """The name of a dtype in torch, without ``torch.``; other words for one are known, the rest comes back as it is."""
    bare = text.strip("\"'<>“” ").removeprefix("class ").strip("'")
    bare = re.sub(
        r"^(?:torch|np|numpy|jnp|tf)\.", "", re.sub(r"^(?:np\.|numpy\.)?dtype\(['\"]?(\w+)['\"]?\)$", r"\1", bare)
    )
    name = bare if bare in DTYPES else bare.lower().replace(" ", "")
    return name if name in DTYPES else DTYPE_ALIASES.get(name, text.removeprefix("torch."))


def device_name(text: str) -> str:
    """`cuda:0` for `CUDA:0` and for what is between the brackets of `torch.device("cuda", 0)`."""
    match = _DEVICE_CALL.fullmatch(text)
    if match is not None:
        return match[1] + (f":{match[2]}" if match[2] else "")
    return text.lower() if re.fullmatch(r"[A-Za-z]+(:\d+)?", text) else text
