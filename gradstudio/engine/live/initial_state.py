"""Beginning from nothing, and beginning another pass (semantics §5, §6, §9)."""

import ast
from collections.abc import Callable
from typing import Any

import torch

from gradstudio.engine import access
from gradstudio.engine.access import FILENAME
from gradstudio.engine.code.freedom import freedom
from gradstudio.engine.code.surroundings import new_namespace
from gradstudio.engine.device_memory import free_bytes
from gradstudio.engine.gradient.gradient_registry import Gradients
from gradstudio.engine.live.live_state import Live, Loaded
from gradstudio.engine.script.cursor import Cursor
from gradstudio.engine.torch_settings import Settings
from gradstudio.graph.groups.call_ids import is_call_item, outermost
from gradstudio.graph.model import ItemId

SHARE_KEPT = 4
_NAMES_AGAIN = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign)


def from_nothing(
    loaded: Loaded, print_function: object, defaults: Settings, max_values: int, drawn: int | None = None
) -> Live:
    """A new namespace that stands before the first statement; without a seed one is drawn, or `drawn` used again."""
    defaults.restore()
    torch.set_grad_enabled(True)
    seed = loaded.program.seed
    if seed is None and drawn is None:
        seed = torch.seed()
    elif seed is None and drawn is not None:
        seed = drawn
        torch.manual_seed(seed)
    namespace = new_namespace(print_function)
    gradients = Gradients(budget_bytes, max_values)
    return Live(loaded, namespace, Cursor(loaded.items, namespace), gradients, seed)


def run_prelude(live: Live, load_file: Callable[..., object]) -> None:
    """Execute imports and header.

    Raises:
        Exception: whatever they raise.
    """
    access.execute(access.statements(live.loaded.program.prelude), live.namespace)
    give_stored(live.namespace, load_file)
    live.prepared = True


def give_stored(names: dict[str, Any], load_file: object) -> None:
    """Names in which stored tensors are loaded by `load_file`; code, which may look, finds no name that it has not."""
    if "load_file" in names or not freedom.now:
        names["load_file"] = load_file


def extend_prelude(live: Live, prelude: str) -> None:
    """Imports and names that a longer program has in its prelude; seeds and dtypes are not set again."""
    tree = ast.parse(prelude, FILENAME)
    load_file = live.namespace.get("load_file")
    body: list[ast.stmt] = [statement for statement in tree.body if isinstance(statement, _NAMES_AGAIN)]
    access.execute(access.compiled(access.guarded(ast.Module(body, []))), live.namespace)
    if load_file is not None:
        live.namespace["load_file"] = load_file


def new_pass(live: Live) -> None:
    """Names as set-up bound them; what was spoilt is made anew on the way."""
    live.close()
    live.pass_number += 1
    live.failed = live.interrupted = live.paused = False
    live.behind = live.aim = None
    live.backward_parts = {}
    live.anew = live.must_be_made_anew()
    unbind = live.namespace.pop
    for name in {*live.binder, *live.loaded.names}:
        unbind(name, None)
    live.binder.clear()
    for step, _ in live.loaded.setup:
        if step.id in live.setup and step.id not in live.anew and not step.statement.is_part:
            live.rebind(step)
    staying = live.setup.keys() - live.anew

    def stays_around(node: ItemId) -> bool:
        return (outermost(node) if is_call_item(node) else node) in staying

    stays = stays_around if live.groups else staying.__contains__
    live.gradients.new_pass(live.pass_number, stays)
    live.modules.new_pass(stays)
    live.cursor = Cursor(live.loaded.items, live.namespace)


def budget_bytes() -> int:
    """What may be kept only for showing: a quarter of the free memory."""
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    free = free_bytes(torch.device("cpu")) or 0
    if accelerator is not None:
        free = min(free, free_bytes(accelerator) or free)
    return free // SHARE_KEPT
