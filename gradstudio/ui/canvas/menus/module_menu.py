"""The rows of context menus about modules: another call, modes, initialisers, the order of children."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from gradstudio.graph.analysis import module_modes
from gradstudio.graph.card_grouping import is_callable
from gradstudio.graph.model import ItemId
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Operator
from gradstudio.scene.card.parameter_rows import parameter_rows
from gradstudio.ui.canvas.menus.menu_canvas import MenuCanvas
from gradstudio.ui.canvas.menus.menu_rows import Below, Row

PREFIX: Final = "torch.nn.init."
COMMON: Final = ("xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "normal_", "uniform_")
"""Initialisers that stand first; the others follow in the catalogue's order."""


def module_rows(canvas: MenuCanvas, item: ItemId) -> Iterator[Row]:
    """For a module's card: a second call, its mode, whether it learns."""
    graph, module = canvas.scene.graph, canvas.module_commands.module_of(item)
    if module is None:
        return
    if is_callable(operator_of(graph, module)):
        yield "Call again (shares the weights)", lambda: canvas.module_commands.call_again(item)
    training = module_modes.is_training(graph, module)
    yield (
        "Evaluate: write eval()" if training else "Train: back to training",
        lambda: canvas.module_commands.toggle_training(item),
    )
    if parameter_rows(canvas.scene.results, module) != ():
        frozen = module_modes.is_frozen(graph, module)
        yield "Learn again" if frozen else "Freeze: nothing learns", lambda: canvas.module_commands.toggle_frozen(item)
    yield None


def child_rows(canvas: MenuCanvas, item: ItemId, path: str) -> Iterator[Row]:
    """For a child's port of a container: its place in the order."""
    name, _, number = path.rpartition(".")
    graph = canvas.scene.graph
    if not number.isdigit() or graph.wire_into(item, path) is None or canvas.module_commands.module_of(item) != item:
        return
    if graph.wire_into(item, f"{name}.{int(number) - 1}") is not None:
        yield "Move up", partial(canvas.module_commands.move_child, item, path, -1)
    if graph.wire_into(item, f"{name}.{int(number) + 1}") is not None:
        yield "Move down", partial(canvas.module_commands.move_child, item, path, 1)


def initialiser_rows(canvas: MenuCanvas, item: ItemId, leaf: str) -> Iterator[Below]:
    """Submenus "Initialise weight with…", for the parameter that was clicked or for each of the first few."""
    module = canvas.module_commands.module_of(item)
    if module is None:
        return
    known = [one for one in parameter_rows(canvas.scene.results, module) or () if not one.buffer]
    for one in (one for one in known[:4] if not leaf or one.path == leaf):
        yield Below(
            f"Initialise {one.path} with…",
            [
                (each.title, partial(canvas.module_commands.initialise, item, one.path, each.key))
                for each in initialisers()
            ],
        )


def initialisers() -> tuple[Operator, ...]:
    """What fills a parameter in place, the common ones first."""
    found = [operator for operator in load() if operator.key.startswith(PREFIX) and operator.writes]
    order = {f"{PREFIX}{word}": number for number, word in enumerate(COMMON)}
    return tuple(sorted(found, key=lambda operator: order.get(operator.key, len(order))))
