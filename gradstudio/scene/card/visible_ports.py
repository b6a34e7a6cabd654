"""Which inputs of a node have a row on its card. No Qt."""

from collections.abc import Iterable, Sequence

from gradstudio.graph.ports.item_ports import Port

NEVER_FOLDED = frozenset({"requires_grad", "dim", "lr"})
"""Optional parameters that people look for first."""


def foldable(ports: Iterable[Port]) -> frozenset[str]:
    """Optional inputs, which may be folded away when there are two or more; whatever they hold."""
    return frozenset(
        port.path
        for port in ports
        if not port.required and port.parameter.name not in NEVER_FOLDED and port.element is None
    )


def visible_ports(ports: Sequence[Port], expanded: bool) -> tuple[Port, ...]:
    """The ports with a row: optional ones stand last, so that none moves when one of them is used."""
    optional = foldable(ports)
    if len(optional) < 2:
        return tuple(ports)
    first = tuple(port for port in ports if port.path not in optional)
    last = (port for port in ports if port.path in optional)
    return (*first, *(port for port in last if expanded or port.state in ("wired", "literal")))
