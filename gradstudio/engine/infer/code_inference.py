"""Undrawn Python in an inference pass: it is never tried, and what it may have changed is known after a run."""

from typing import Protocol

from gradstudio.engine.infer.name_table import NameTable
from gradstudio.engine.infer.statement_inference import GUESS, Way
from gradstudio.engine.meta.inference_results import UNKNOWN, StatementResult
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.code_names import names_of_code
from gradstudio.graph.text.code_records import FREE
from gradstudio.program.model import Statement
from gradstudio.program.trust import needs_yes
from gradstudio.protocol.messages.inference import PortInference


class Pass(Protocol):
    """A pass that comes by."""

    names: NameTable
    ports: dict[tuple[ItemId, int], PortInference]
    prelude: dict[str, object]
    way: Way


def is_free(statement: Statement) -> bool:
    """Whether a statement may do anything, so that it is never tried."""
    return statement.operator in FREE or needs_yes(statement)


def pass_code(walk: Pass, step: Step, key: int) -> StatementResult | None:
    """Go on behind undrawn Python: what it binds, and what it read, is known after a run, so there is no result."""
    statement = step.statement
    for place, name in enumerate(statement.names):
        walk.names.bind(name, UNKNOWN, (key, place))
        walk.names.note(name, "", True)
        walk.ports[step.id, place] = PortInference(node=step.id, output=place, known_after_run=True)
    touched = names_of_code(statement.text)
    for name in (*touched.reads, *touched.later):
        if name in walk.names.values and name not in walk.prelude:
            walk.names.write(name, UNKNOWN, key)
    walk.names.rewritten = True
    if "set_default_d" in statement.text:  # of a dtype, or a device
        walk.way = walk.way._replace(autocast=GUESS)
    return None
