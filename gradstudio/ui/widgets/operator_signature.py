"""An operator as a tooltip: how it is written, and what it does. No widgets here."""

import re
from html import escape

from gradstudio.operators.catalogue.descriptions import signature
from gradstudio.operators.model import Operator

__all__ = ["signature", "summary_html", "tooltip"]

_CODE = re.compile(r"`+([^`]+)`+")


def summary_html(summary: str) -> str:
    """A summary as rich text: what stands in backticks is code."""
    return _CODE.sub(r"<code>\1</code>", escape(summary))


def tooltip(operator: Operator) -> str:
    """Signature and summary as rich text."""
    words = f"<p style='margin:0'>{summary_html(operator.summary)}</p>" if operator.summary else ""
    return f"<p style='margin:0; white-space:pre'><code>{escape(signature(operator))}</code></p>{words}"
