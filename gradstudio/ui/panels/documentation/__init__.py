"""The Documentation dock: torch's own page of an operator."""

from gradstudio.ui.panels.documentation.panel import DocumentationPanel
from gradstudio.ui.panels.documentation.where import Documented, operator_at

__all__ = ["DocumentationPanel", "Documented", "operator_at"]
