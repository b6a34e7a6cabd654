"""How numbers, shapes and dtypes are written on a card. Plain text, no Qt.

Rules: 3-4 significant digits with trailing zeros, scientific outside 1e-4 .. 1e4, integers without a point, sampled
figures marked "~". What is rounded has three digits or two decimals at least; rounded further it stands behind "≈".
"""

import math
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from gradstudio.protocol.messages.ranks import is_of_several
from gradstudio.protocol.messages.records import (
    ModuleRecord,
    ObjectRecord,
    PlainRecord,
    Record,
    Summary,
    TensorRecord,
    TupleRecord,
)

SHORT_DTYPES = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "complex64": "c64",
    "complex128": "c128",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint8": "u8",
    "bool": "bool",
}
FLOAT32_HALF_STEP = 6e-8
"""Relative rounding of float32: 0.1 stored as 0.10000000149 is still written 0.1."""
MAX_VECTOR = 10
"""A tensor of at most so many elements is written out (semantics §17)."""
RANGE = " … "
"""Between the least and the largest value."""
BETWEEN = ", "
"""Between the counts of what is not finite."""
ROUNDED = "≈"
"""Before what is rounded to fewer than three digits."""
MAX_ITEMS = 4
"""Of a list or tuple, so many items are written out."""
MAX_GRID = 4
"""A matrix of at most so many rows and columns is written out."""


def bare_dtype(dtype: str) -> str:
    """``float32`` of ``torch.float32``."""
    return dtype.removeprefix("torch.")


def number(value: object, digits: int = 4) -> str:
    """A number as it is written on a card; a complex number comes as a pair."""
    match value:
        case None:
            return "None"
        case bool():
            return str(value)
        case int():
            return _integer(value)
        case float():
            return _real(value, digits)
        case str():
            return {"nan": "NaN", "inf": "∞", "-inf": "−∞"}.get(value, value)
        case [real, imaginary]:
            return _complex(real, imaginary)
        case _:
            return str(value)


def _integer(value: int) -> str:
    return str(value) if abs(value) < 10**9 else _scientific(value, 4)


def _real(value: float, digits: int) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    if value == int(value) and abs(value) < 1e4:
        return str(int(value))
    if not 1e-4 <= abs(value) < 1e4:
        return _scientific(value, min(digits, 3))
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2])
    text = f"{value:.{max(0, digits - 1 - exponent)}f}"
    exact = abs(float(text) - value) <= FLOAT32_HALF_STEP * abs(value)
    return text.rstrip("0").rstrip(".") if exact and "." in text else text


def _scientific(value: float, digits: int) -> str:
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def _complex(real: object, imaginary: object) -> str:
    tail = number(imaginary, 3)
    return f"{number(real, 3)}{tail if tail.startswith(('-', '−')) else '+' + tail}j"


def shape(sizes: Sequence[int]) -> str:
    """``[2, 3]``; a 0-d tensor is ``[]``."""
    return f"[{', '.join(map(str, sizes))}]"


def element_count(sizes: Sequence[int]) -> int:
    """How many elements a tensor of that shape has."""
    return math.prod(sizes)


def nested_scalars(nested: object) -> list[object]:
    """The scalars of nested lists, in order. Complex pairs are the caller's business."""
    if isinstance(nested, list | tuple):
        return [scalar for part in nested for scalar in nested_scalars(part)]
    return [nested]


def has_all_elements(sizes: Sequence[int]) -> bool:
    """Whether all elements of a tensor of that shape are written as numbers."""
    if len(sizes) <= 1:
        return not sizes or sizes[0] <= MAX_VECTOR
    return len(sizes) == 2 and 0 < sizes[0] <= MAX_GRID and 0 < sizes[1] <= MAX_GRID


def grid(summary: Summary) -> tuple[tuple[str, ...], ...]:
    """The elements of a small tensor as rows of text, at most five a line."""
    return cells(summary, 5)


def cells(summary: Summary, columns: int, digits: int = 4) -> tuple[tuple[str, ...], ...]:
    """The elements of a small tensor in columns with equal decimals; a vector is broken after `columns`."""
    value = summary.value
    if not isinstance(value, list | tuple):
        return ((number(value, digits),),)
    if len(summary.shape) == 2:
        across = [_alike(column, digits, nested_scalars(value)) for column in zip(*value, strict=True)]
        return tuple(zip(*across, strict=True))
    texts = _alike(value, digits, value)
    return tuple([texts[start : start + columns] for start in range(0, len(texts), columns)])


def are_coarse(summary: Summary, texts: Sequence[Sequence[str]], digits: int) -> bool:
    """Whether some of the cells that were asked for with so few digits are rounded, so that it has to be said."""
    if digits > 2 or _complex_parts(summary):
        return False
    pairs = zip((text for row in texts for text in row), nested_scalars([summary.value]), strict=False)
    finite = ((text, value) for text, value in pairs if isinstance(value, float) and math.isfinite(value))
    return any(abs(float(text) - value) > FLOAT32_HALF_STEP * abs(value) for text, value in finite)


def _alike(scalars: Sequence[object], digits: int, everything: Sequence[object]) -> tuple[str, ...]:
    """Numbers with as many decimals each: none when all are whole, at most so many digits of the largest of all.

    What these decimals would make 0 although it is not stands with its power of ten.
    """
    sizes = _sizes(scalars)
    if not sizes or not 1e-3 <= max(sizes) < 1e4:
        return tuple([number(value, min(digits, 3)) for value in scalars])
    top = 0.0
    for value in everything:
        if isinstance(value, float) and math.isfinite(value):
            top = max(top, abs(value))
    largest = int(f"{top:.{digits - 1}e}".partition("e")[2])
    coarse = 1 if largest <= 1 else 0  # -1.9 and -0.4 are no longer than -2 and -4e-1
    fewest = 2 if digits > 2 else coarse
    decimals = _enough_decimals(sizes, max(fewest, min(digits, digits - 1 - largest)))
    texts = list[str]()
    for value in scalars:
        texts.append(_decimal(value, decimals, digits) if isinstance(value, float) else number(value))
    return tuple(texts)


def _sizes(scalars: Sequence[object]) -> list[float]:
    """How large the reals are that are not 0; nothing where something stands among them that has no decimals."""
    sizes = list[float]()
    for value in scalars:
        if isinstance(value, float):
            if value and math.isfinite(value):
                sizes.append(abs(value))
        elif isinstance(value, bool) or not (isinstance(value, int) or value == "nan"):
            return []
    return sizes


def _enough_decimals(sizes: Sequence[float], most: int) -> int:
    """So few that every number is still written exactly; `most` where some are not."""
    decimals = 0
    for size in sizes:
        while decimals < most and abs(float(f"{size:.{decimals}f}") - size) > FLOAT32_HALF_STEP * size:
            decimals += 1
    return decimals


def _decimal(value: float, decimals: int, digits: int) -> str:
    text = f"{value:z.{decimals}f}"
    if value == 0 or not math.isfinite(value) or float(text) != 0:
        return text
    mantissa, exponent = f"{value:.{max(0, digits - 2)}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def is_uniform(summary: Summary) -> bool:
    """Whether several elements are all the same number."""
    odd = summary.nan or summary.posinf or summary.neginf
    if summary.minimum is None or odd:
        return False
    return summary.minimum == summary.maximum and element_count(summary.shape) > 1


def extent(summary: Summary, digits: int = 3) -> str:
    """The range of finite values: ``-1.2 … 3.4``; "~" marks a sample."""
    if summary.minimum is None or summary.maximum is None:
        return "empty" if element_count(summary.shape) == 0 else ""
    mark = "~" if summary.sampled else ""
    if is_uniform(summary):
        return f"{mark}all {number(summary.minimum, digits)}"
    if element_count(summary.shape) == 1:
        return number(summary.minimum, digits)
    return f"{mark}{number(summary.minimum, digits)}{RANGE}{number(summary.maximum, digits)}"


def extents(summary: Summary) -> tuple[str, ...]:
    """The range of finite values in several wordings, the most exact first."""
    exact = extent(summary)
    if is_uniform(summary):
        return exact, exact.replace("all ", "≡")
    tight, coarse = (extent(summary, digits).replace(RANGE, RANGE.strip()) for digits in (3, 2))
    return tuple(dict.fromkeys([exact, tight, *([] if coarse == tight else [f"{ROUNDED}{coarse}"])]))


def ranks_sign(told: Summary | PlainRecord) -> str:
    """Behind a shape, of a value on several ranks: " =" where all hold the same, " ≠", or which holds a NaN."""
    if not is_of_several(told.spread) or (told.spread.parts and not told.spread.nan.count):
        return ""
    from gradstudio.protocol.ranks.spread_words import spread_sign  # most programs have one rank

    return f" {spread_sign(told.spread)}"


def ranks_text(told: Summary | PlainRecord) -> str:
    """Of a value on several ranks, whether they hold the same, in words; "" with one rank."""
    if not is_of_several(told.spread):
        return ""
    from gradstudio.protocol.ranks.spread_words import spread_words  # most programs have one

    return spread_words(told.spread)


def ranks_wordings(told: Summary | PlainRecord) -> tuple[str, ...]:
    """The same for a card, and by how much they differ: the longest wording first."""
    from gradstudio.protocol.ranks.spread_words import amount_wordings  # most programs have one

    return amount_wordings(told.spread) if told.spread is not None else ("",)


def ranks_alarm(summary: Summary, mark: str = "") -> str:
    """Of what all ranks should hold alike, a parameter or its gradient: ""; else the sign that they do not."""
    sign = ranks_sign(summary)
    return "" if sign in ("", " =") else f" {mark}{sign[1:]}"


def oddities(summary: Summary) -> str:
    """``33 % NaN, 2 × +∞``: how many elements are not finite, in words; "" when all are."""
    total = max(1, element_count(summary.shape))
    found = (("NaN", summary.nan), ("+∞", summary.posinf), ("−∞", summary.neginf))
    return BETWEEN.join([_share(count, total, name) for name, count in found if count])


def oddity_wordings(summary: Summary) -> tuple[str, ...]:
    """The same in several wordings: ``33 % NaN, 33 % +∞``, ``NaN, +∞``, ``NaN``; none where all are finite."""
    found = (("NaN", summary.nan), ("+∞", summary.posinf), ("−∞", summary.neginf))
    names = [name for name, count in found if count]
    return tuple(dict.fromkeys([oddities(summary), BETWEEN.join(names), names[0]])) if names else ()


def _share(count: int, total: int, name: str) -> str:
    if total >= 100:
        return f"{100 * count / total:.3g} % {name}"
    return f"{count} NaN" if name == "NaN" else f"{count} × {name}"  # "20 −∞" would read as a difference


def norm(summary: Summary, digits: int = 3) -> str:
    """The 2-norm from the RMS: ``0.022``; of what holds a NaN or an infinity that; "" when there is none."""
    if summary.nan:
        return "NaN"
    if summary.posinf or summary.neginf:
        return "∞"
    if summary.rms is None:
        parts = _complex_parts(summary)
        return number(math.hypot(*parts), digits) if parts else ""
    mark = "~" if summary.sampled else ""
    return f"{mark}{number(summary.rms * math.sqrt(element_count(summary.shape)), digits)}"


def norm_words(summary: Summary) -> str:
    """A gradient's norm behind its sign: ``‖∇‖ 0.0257``."""
    return f"‖∇‖ {norm(summary)}"


def number_wordings(value: object) -> tuple[str, ...]:
    """A number with fewer digits, for as much room as there is: ``-2.847``, ``-2.85``."""
    return tuple(dict.fromkeys(number(value, digits) for digits in (4, 3)))


def _complex_parts(summary: Summary) -> list[float]:
    """Real and imaginary parts of a complex tensor whose elements are kept; of such no RMS is told."""
    if summary.value is None or not bare_dtype(summary.dtype).startswith("complex"):
        return []
    return [part for part in nested_scalars([summary.value]) if isinstance(part, float)]


def single(summary: Summary | None) -> object:
    """The number of a tensor of one element, of whatever shape; None of others, and where it was not kept."""
    if summary is None or element_count(summary.shape) != 1:
        return None
    value = summary.value
    if value is None:
        return summary.minimum
    for _ in summary.shape:
        if isinstance(value, list | tuple):
            value = value[0]
    return value


def number_or_norm(summary: Summary, sign: str = "‖∇‖ ") -> str:
    """One element as a number, with the digits of its card; else the norm behind its sign."""
    one = single(summary)
    return number(one) if one is not None else f"{sign}{norm(summary)}"


def sum_mark(terms: Sequence[str], total: str) -> str:
    """``=`` between numbers as they are written and their sum; ``≈`` where rounding makes them not add up."""
    try:
        return "=" if sum(map(Decimal, terms)) == Decimal(total) else "≈"
    except InvalidOperation:
        return "="  # infinite, or no number


def size(size_bytes: int) -> str:
    """Bytes with a binary unit: ``1.5 KiB``."""
    amount = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1024 or unit == "TiB":
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.3g} {unit}"
        amount /= 1024
    return ""


def times(count: int) -> str:
    """``once``, ``twice``, ``3 times``."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def module_wordings(record: ModuleRecord) -> tuple[str, ...]:
    """How many numbers a module learns, in several wordings; none where it has none."""
    count = sum(element_count(leaf.summary.whole_shape) for leaf in record.parameters.values())
    return (f"{count:,} parameters", f"{count:,} par.") if count else ()


def one_line_value(record: Record) -> str:
    """One line for a value that is not a tensor."""
    match record:
        case PlainRecord(what="text", value=value):
            return str(value)
        case PlainRecord(value=value):
            return number(value)
        case TupleRecord(class_name=name, length=length, items=items):
            return _items_in_a_line(name, length, items)
        case TensorRecord(summary=summary):
            return f"{SHORT_DTYPES.get(bare_dtype(summary.dtype), bare_dtype(summary.dtype))}{shape(summary.shape)}"
        case ObjectRecord(class_name=name, words=words):
            return words or name
        case _:
            return record.class_name if hasattr(record, "class_name") else "array"


def _items_in_a_line(name: str, length: int, items: Sequence[Record]) -> str:
    """``[0.5, 0.25]``, ``(2, 3)``; of many how many there are, which is what has to be read: ``200 items: 0.5, …``."""
    shown = ", ".join(_inside(item) for item in items[:MAX_ITEMS])
    if length > MAX_ITEMS:
        return f"{length:,} items: {shown}, …"
    match name:
        case "list":
            return f"[{shown}]"
        case "tuple":
            return f"({shown},)" if length == 1 else f"({shown})"
        case _:
            return f"{name}({shown})"


def _inside(record: Record) -> str:
    if isinstance(record, TensorRecord) and record.summary.shape == () and record.summary.value is not None:
        return number(record.summary.value)
    return one_line_value(record)
