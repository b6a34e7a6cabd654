"""The Documentation dock: torch's own page of an operator."""

from gradstudio.ui.docks.documentation.operator_source import Documented, operator_at
from gradstudio.ui.docks.documentation.panel import DocumentationPanel

__all__ = ["DocumentationPanel", "Documented", "operator_at"]
