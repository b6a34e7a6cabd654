"""Reports of failures: torch's words as they are, where, and what went in. Explanations belong to `advice`."""

import traceback
from types import TracebackType
from typing import Any

from gradstudio.engine.access import FILENAME
from gradstudio.engine.backward.inplace_conflict import conflict_of
from gradstudio.engine.errors import ProgramEnded
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.memory.allocation_guard import refused_bytes
from gradstudio.engine.missing_operators import explain_error
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.script.cursor import HeadFailed
from gradstudio.engine.script.source_map import NOWHERE
from gradstudio.engine.value.value_records import record_of
from gradstudio.graph.groups.call_ids import is_call_item
from gradstudio.graph.text.code_records import CODE
from gradstudio.program.model import Statement
from gradstudio.protocol.messages.events import Failed
from gradstudio.protocol.messages.progress import ProgramExit
from gradstudio.protocol.messages.records import Record


def step_failure(live: Live, step: Step, error: Exception, max_values: int) -> Failed:
    """A statement of a traced run failed."""
    statement = step.statement
    places = live.loaded.places
    is_code = statement.operator == CODE
    trace = error.__traceback__ if is_code else _below_first(error.__traceback__)
    node, line = places.of_traceback(trace, statement.node)
    inner = places.known(node)
    if inner is None or (inner is statement and not is_code):
        node, line = statement.node, statement.line
    return Failed(
        revision=live.loaded.revision, node=node, line=line, type_name=_type_name(error),
        address=statement.address if node == statement.node else places.address(node),
        message=explain_error((inner or statement).operator, error),
        operands=operands_of(statement, live.namespace, max_values),
        turns=live.cursor.turns, warned_bytes=refused_bytes(error), clash=conflict_of(live, step, error),
        program_exit=_exit_of(error),
    )  # fmt: skip


def block_failure(live: Live, error: HeadFailed) -> Failed:
    """The head of a block failed, or undrawn Python that it called."""
    block, cause = error.head.block, error.__cause__ or error
    node, address, line = block.block, block.address or block.kind, block.line
    places = live.loaded.places
    called, at = places.of_traceback(cause.__traceback__)
    inner = places.known(called)
    if inner is not None and inner.operator == CODE:
        node, address, line = called, inner.address, at
    return Failed(
        revision=live.loaded.revision, node=node, address=address, line=line,
        turns=live.cursor.turns, type_name=_type_name(cause), message=str(cause), warned_bytes=refused_bytes(cause),
        program_exit=_exit_of(cause),
    )  # fmt: skip


def untraced_failure(live: Live, error: Exception, max_values: int) -> Failed:
    """The program failed while it ran as one text, at the place its traceback names."""
    node, line = live.loaded.places.of_traceback(error.__traceback__)
    if isinstance(error, SyntaxError) and node == NOWHERE:
        line = error.lineno or 0
        node = live.loaded.places.node_at(line)
    statement = live.loaded.places.known(node)
    return Failed(
        revision=live.loaded.revision, node=node, address=live.loaded.places.address(node), line=line,
        type_name=_type_name(error), warned_bytes=refused_bytes(error), program_exit=_exit_of(error),
        message=explain_error(statement.operator, error) if statement is not None else str(error),
        operands=() if statement is None or is_call_item(node) else operands_of(statement, live.namespace, max_values),
    )  # fmt: skip


def _type_name(error: BaseException) -> str:
    return "SystemExit" if isinstance(error, ProgramEnded) else type(error).__name__


def _exit_of(error: BaseException) -> ProgramExit | None:
    """With what the program ended itself; None where it did not."""
    return error.program_exit if isinstance(error, ProgramEnded) else None


def operands_of(statement: Statement, namespace: dict[str, Any], max_values: int) -> tuple[tuple[str, Record], ...]:
    """What went into a statement, as far as it stands under a plain name."""
    return tuple((port, record_of(namespace[text], max_values)) for port, text in statement.inputs if text in namespace)


def _below_first(trace: TracebackType | None) -> TracebackType | None:
    """The traceback behind the statement's own frame: where it went into a definition, if it did."""
    for frame, _ in traceback.walk_tb(trace):
        if trace is not None:
            trace = trace.tb_next
        if frame.f_code.co_filename == FILENAME:
            return trace
    return None
