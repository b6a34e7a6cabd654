"""Rows of the action table about the graph as a whole: Graph ▸ Analyse."""

from collections.abc import Callable
from functools import partial

from gradstudio.graph.structure.graph_export import FORMATS
from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.actions.analyse_commands import AnalyseCommands

MENU = "Graph/Analyse"
EXPORT_TIPS = {
    "dot": "The graph of the program as a text that Graphviz draws: nodes, wires, blocks as clusters",
    "graphml": "The graph of the program as XML, for Gephi, yEd and networkx: nodes, wires, what each is",
}
"""By format, what a person gets."""


def analyse_rows(c: AnalyseCommands, export: Callable[[str], None]) -> tuple[Row, ...]:
    """Questions about the graph, and the graph for other tools; `export` asks where to and writes."""
    questions = "Connected components, longest paths, where gradients must pass, what lies between two nodes"
    files = (
        ActionRow(
            f"graph.export_{one.name}",
            f"Export as {one.title}…",
            MENU,
            4,
            partial(export, one.name),
            when=c.has_nodes,
            why=c.why_nothing,
            tooltip=EXPORT_TIPS[one.name],
        )
        for one in FORMATS
    )
    return (
        ActionRow(
            "graph.analyse",
            "Analyse Graph…",
            MENU,
            4,
            c.ask_all,
            ("Ctrl+Shift+A",),
            when=c.has_nodes,
            why=c.why_nothing,
            tooltip=questions,
        ),
        ActionRow(
            "graph.between",
            "What Lies Between…",
            MENU,
            4,
            c.ask_between,
            when=c.has_pair,
            why=c.why_no_pair,
            tooltip="Every node on a way from one of the two selected nodes to the other",
        ),
        ActionRow(
            "graph.gates",
            "Where Its Gradient Must Pass…",
            MENU,
            4,
            c.ask_gates,
            when=c.has_one,
            why=c.why_not_one,
            tooltip="The nodes through which all of the selected leaf's gradient must go",
        ),
        *files,
    )
