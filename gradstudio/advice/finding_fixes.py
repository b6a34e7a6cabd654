"""Ways out of what a look over a run has found: edits where it is plain what would help."""

from gradstudio.advice.finding import Finding
from gradstudio.advice.model import Fix
from gradstudio.graph import recipes
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph
from gradstudio.graph.names import title
from gradstudio.graph.ports import operator_of

SMALLEST = "1e-08"
"""What keeps log and sqrt and their derivatives finite in float32."""
NEEDS_POSITIVE = frozenset({"log", "log2", "log10", "sqrt", "rsqrt", "reciprocal"})
BORN = frozenset({"not_finite", "backward_not_finite"})


def finding_fixes(finding: Finding, graph: Graph) -> tuple[Fix, ...]:
    """Where a NaN or an infinity was born in a logarithm or a root: keep what goes in above 0."""
    item = next((step for step in (finding.node, *finding.path[:1]) if step in graph.nodes), None)
    if finding.kind not in BORN or item is None:
        return ()
    operator, wire = operator_of(graph, item), next(iter(graph.wires_to(item)), None)
    if operator is None or wire is None or operator.word not in NEEDS_POSITIVE or operator.writes:
        return ()
    try:
        edits = recipes.insert(graph, wire, "torch.Tensor.clamp", {"min": SMALLEST})
    except Refused:
        return ()
    return (Fix(f"Keep {title(graph, wire.source)} above 0 (clamp(min={SMALLEST}))", edits),)
