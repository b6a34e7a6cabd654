"""An operator as a tooltip: how it is written, and what it does. No widgets here."""

from html import escape

from gradstudio.operators.model import Operator
from gradstudio.operators.words import signature

__all__ = ["signature", "tooltip"]


def tooltip(operator: Operator) -> str:
    """Signature and summary as rich text."""
    words = f"<p style='margin:0'>{escape(operator.summary)}</p>" if operator.summary else ""
    return f"<p style='margin:0; white-space:pre'><code>{escape(signature(operator))}</code></p>{words}"
