"""The Documentation dock: torch's own page of an operator."""

from gradstudio.ui.docks.documentation.operator_source import OperatorSource, operator_of_card
from gradstudio.ui.docks.documentation.panel import DocumentationPanel

__all__ = ["DocumentationPanel", "OperatorSource", "operator_of_card"]
