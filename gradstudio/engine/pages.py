"""torch's own documentation of an operator, read from the installed torch."""

import importlib
import inspect
from typing import Any

from gradstudio.operators import catalogue
from gradstudio.operators.model import Operator
from gradstudio.protocol.pages import Describe, Described


def describe(request: Describe) -> Described:
    """The docstring of the operator, or in words why there is none."""
    operator = catalogue.load().get(request.operator)
    if operator is None:
        return Described(
            request=request.request, operator=request.operator, error=f"There is no operator '{request.operator}'."
        )
    text = documentation(operator)
    error = "" if text else f"The installed torch has no documentation of {operator.path}."
    return Described(
        request=request.request, operator=operator.key, text=text, source=operator.path.rstrip("="), error=error
    )


def documentation(operator: Operator) -> str:
    """The docstring without common indentation; "" when there is none."""
    found = _resolve(operator.path.rstrip("="))
    return inspect.cleandoc(found.__doc__ or "") if found is not None else ""


def _resolve(path: str) -> Any:
    """The object of a dotted path of the catalogue, or None."""
    parts = path.split(".")
    for k in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:k]))
        except ImportError:
            continue
        for part in parts[k:]:
            found = getattr(found, part, None)
        return found
    return None
