"""Sample arguments of Python's and numpy's own rows; used by `operator_calls`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstudio.operators.model import Operator

Values = dict[str, Any]


def matrix() -> Any:
    """Numbers of float64, a symmetric matrix well away from singular."""
    values = np.random.RandomState(3).rand(3, 3) * 0.6 + 0.2
    return (values + values.T) / 2 + 2 * np.eye(3)


def vector() -> Any:
    return np.array([0.2, 0.5, 0.4])


def whole() -> Any:
    return np.array([2, 0, 1])


def pair() -> Any:
    return (matrix(), matrix())


_GENERIC = {"axis": 0, "axis1": 0, "axis2": 1, "source": 0, "destination": 1, "dtype": np.float32, "k": 1, "n": 4}
_GENERIC |= {"shape": (3, 3), "N": 3, "repeats": 2, "reps": 2, "pad_width": 1, "low": 5, "high": 5, "p": 0.5, "q": 0.5}
_GENERIC |= {"shift": 1, "obj": 1, "deg": 1, "fill_value": 7.0, "indices_or_sections": 3, "arrays": pair, "tup": pair}
_CALLS: dict[str, Values] = {
    "builtins.int.bit_length": {"self": 5},
    "numpy.iinfo": {"type": np.int64},
    "numpy.finfo": {"dtype": np.float32},
    "numpy.logspace": {"start": 0.0, "stop": 1.0},
    "numpy.fromiter": {"iter": lambda: [1.0, 2.0], "dtype": np.float64},
    "numpy.meshgrid": {"xi": lambda: (vector(), vector())},
    "numpy.einsum": {"operands": lambda: ("ij,jk->ik", matrix(), matrix())},
    "numpy.cross": {"a": vector, "b": vector},
    "numpy.searchsorted": {"a": lambda: np.arange(3.0), "v": 1.5},
    "numpy.digitize": {"x": vector, "bins": lambda: np.arange(3.0)},
    "numpy.interp": {"x": vector, "xp": lambda: np.arange(3.0), "fp": vector},
    "numpy.convolve": {"a": vector, "v": vector},
    "numpy.correlate": {"a": vector, "v": vector},
    "numpy.polyfit": {"x": lambda: np.arange(3.0), "y": vector, "deg": 1},
    "numpy.polyval": {"p": vector, "x": 2.0},
    "numpy.bincount": {"x": whole},
    "numpy.take_along_axis": {"arr": vector, "indices": whole},
    "numpy.unravel_index": {"indices": whole, "shape": (3, 3)},
    "numpy.insert": {"arr": vector, "obj": 1, "values": 7.0},
    "numpy.delete": {"arr": vector, "obj": 1},
    "numpy.take": {"indices": whole},
    "numpy.ndarray.take": {"indices": whole},
    "numpy.select": {"condlist": lambda: [vector() > 0.3], "choicelist": lambda: [vector()]},
    "numpy.where": {"condition": lambda: vector() > 0.3},
    "numpy.dtype": {"dtype": "float32"},
    "numpy.reciprocal": {"x": matrix},
    "numpy.linalg.matrix_power": {"a": matrix, "n": 2},
    "numpy.repeat": {"a": matrix, "repeats": 2},
    "numpy.expand_dims": {"a": matrix, "axis": 0},
    "numpy.isin": {"element": whole, "test_elements": lambda: [1, 2]},
    "numpy.ndarray.item": {"args": (0, 1)},
    "numpy.ndarray.squeeze": {"self": lambda: np.ones((1, 3))},
    "numpy.ndarray.fill": {"value": 5.0},
    "numpy.ndarray.clip": {"self": matrix, "min": 0.3, "max": 0.5},
    "numpy.ndarray.reshape": {"shape": (9,)},
    "numpy.ndarray.transpose": {"axes": (1, 0)},
    "numpy.ndarray.view": {"dtype": np.int64},
    "numpy.ndarray.sort": {"self": lambda: np.array([3.0, 1.0, 2.0])},
    "numpy.clip": {"a": matrix, "a_min": 0.3, "a_max": 0.5},
    "numpy.random.rand": {"d": (2,)},
    "numpy.random.randn": {"d": (2,)},
    "numpy.random.seed": {"seed": 0},
    "numpy.random.RandomState": {"seed": 0},
    "numpy.random.default_rng": {"seed": 0},
    "builtins.isinstance": {"obj": 1.5, "class_or_tuple": float},
    "builtins.pow": {"base": 2, "exp": 3},
    "builtins.divmod": {"x": 7, "y": 2},
    "builtins.complex": {"real": 1.0, "imag": 2.0},
    "builtins.chr": {"i": 65},
    "builtins.ord": {"c": "a"},
    "builtins.hash": {"obj": 3},
    "builtins.next": {"iterator": lambda: iter([1, 2])},
    **{f"builtins.{word}": {"number": 12} for word in ("hex", "bin")},
    **{
        f"builtins.{word}": {"iterable": lambda: [3, 1, 2]}
        for word in ("tuple", "set", "frozenset", "sorted", "any", "all", "iter")
    },
    "builtins.reversed": {"sequence": lambda: [3, 1, 2]},
    **{f"builtins.{word}": {"start": 3} for word in ("range", "slice")},
    "builtins.str.join": {"iterable": lambda: ["a", "b"]},
    **{f"builtins.str.{word}": {"width": 20} for word in ("ljust", "rjust", "center", "zfill")},
    "builtins.str.replace": {"old": "a", "new": "b"},
    "builtins.str.format": {"args": (1, 2)},
    "builtins.str.startswith": {"prefix": "a"},
    "builtins.str.endswith": {"suffix": "a"},
    **{f"builtins.str.{word}": {"sub": "a"} for word in ("count", "find")},
    "builtins.list.extend": {"iterable": lambda: [4]},
    "builtins.list.insert": {"index": 0, "object": 9},
    **{f"builtins.list.{word}": {"value": 1} for word in ("index", "count", "remove")},
    "operator.not_": {"a": 0.0},
    "python.contains": {"a": 1, "b": lambda: [1]},
    "math.hypot": {"coordinates": (3.0, 4.0)},
    **{f"math.{word}": {"integers": (12, 18)} for word in ("gcd", "lcm")},
    "math.fsum": {"seq": lambda: [1.0, 2.0]},
    "math.dist": {"p": lambda: [0.0, 0.0], "q": lambda: [3.0, 4.0]},
    "numpy.random.choice": {"a": 5},
    "numpy.random.permutation": {"x": 5},
    "numpy.random.Generator.choice": {"a": 5},
    "numpy.random.Generator.permutation": {"x": 5},
    **{f"numpy.random.{home}gamma": {"shape": 2.0} for home in ("", "Generator.")},
    **{f"numpy.random.{home}beta": {"a": 1.0, "b": 2.0} for home in ("", "Generator.")},
    **{f"numpy.random.{home}multivariate_normal": {"mean": vector, "cov": matrix} for home in ("", "Generator.")},
    **{f"numpy.random.{home}multinomial": {"n": 5, "pvals": (0.5, 0.5)} for home in ("", "Generator.")},
    **{f"numpy.random.{home}dirichlet": {"alpha": (1.0, 2.0)} for home in ("", "Generator.")},
    **{f"numpy.{word}": dict.fromkeys(("x", "x1", "x2"), whole) for word in ("invert", "bitwise_and", "bitwise_or")},
    "numpy.bitwise_xor": dict.fromkeys(("x1", "x2"), whole),
    **{f"numpy.random.Generator.{word}": {"self": lambda: np.random.RandomState(0)} for word in ("rand", "randn")},
    "numpy.random.Generator.randint": {"self": lambda: np.random.RandomState(0)},
}
_HOMES: tuple[tuple[str, Callable[[], Any]], ...] = (
    ("numpy.random.Generator.", lambda: np.random.default_rng(0)),
    ("builtins.str.", lambda: "a b"),
    ("builtins.list.", lambda: [3, 1, 2]),
)


def is_own(operator: Operator) -> bool:
    """Whether the row is Python's or numpy's, and given numpy's arrays here."""
    own = operator.key in _CALLS or operator.path.startswith(("builtins.str.", "builtins.list."))
    return operator.rare and (own or operator.path.startswith("numpy."))


def values_for(operator: Operator) -> Values:
    """A value for each argument that a call of the row needs."""
    given = _CALLS.get(operator.key, {})
    found = {}
    for parameter in operator.parameters:
        name = parameter.name
        if name in given:
            value = given[name]
        elif parameter.default is not None or (parameter.variadic and name not in ("operands", "xi")):
            continue
        elif name == "self":
            value = next((made for home, made in _HOMES if operator.path.startswith(home)), matrix)
        else:
            value = _GENERIC.get(name, matrix)
        found[name] = value() if callable(value) and not isinstance(value, type) else value
    return found
