"""Undrawn Python in an inference pass: it is never tried, and what it may have changed is known after a run."""

import ast
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from torch.utils.data import DistributedSampler

from gradstudio.engine.infer.process_inference import Pass, pass_processes
from gradstudio.engine.infer.statement_inference import GUESS
from gradstudio.engine.meta.inference_results import UNKNOWN, StatementResult
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.graph.card_grouping import CALL
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.text.code_names import names_of_code
from gradstudio.graph.text.code_records import CODE, FREE, FREE_METHOD, PROCESSES, STANDARD
from gradstudio.program.model import Program, Statement, flatten_statements
from gradstudio.program.reading.code.code_imports import imported
from gradstudio.program.trust import definitions_with_code, needs_yes
from gradstudio.protocol.messages.inference import PortInference


def is_free(statement: Statement) -> bool:
    """Whether a statement may do anything, so that it is never tried."""
    return statement.operator in FREE or needs_yes(statement)


class CodeInDefinitions:
    """The undrawn Python in the definitions of a program, which runs when they are called.

    Attributes:
        names: of the program that it reads, or may change.
    """

    def __init__(self, program: Program) -> None:
        """Look at all definitions."""
        self._calls = frozenset(GROUP + name for name in definitions_with_code(program))
        self.names: frozenset[str] = frozenset()
        for inside in program.insides if self._calls else ():
            codes = [one for one in flatten_statements((*inside.setup, *inside.body)) if one.operator == CODE]
            every = [names_of_code(one.text) for one in (*codes, *inside.members)]
            self.names |= {name for one in every for name in (*one.reads, *one.keeps, *one.later)}

    def may_run_in(self, step: Step, values: dict[str, Any]) -> bool:
        """Whether a statement calls such a definition, or a module that may be of one."""
        operator = step.statement.operator
        if not self._calls or operator != CALL:
            return operator in self._calls
        return any(values.get(name) is UNKNOWN for name in step.source.reads)


def _orders_anew(walk: Pass, statement: Statement) -> bool:
    """Whether a statement only tells the sampler of a rank which epoch it is: it draws as many rows as before."""
    name = dict(statement.inputs).get("module", "")
    is_told = statement.operator == FREE_METHOD and not statement.names and f"{name}.set_epoch(" in statement.text
    return is_told and type(walk.names.values.get(name)) is DistributedSampler


@lru_cache(maxsize=512)
def _named_again(text: str) -> frozenset[str]:
    """The names that code binds to what they are in every program anyway: ``import torch, helper``."""
    meant = imported(ast.parse(text).body)
    return frozenset(name for name, path in meant.items() if STANDARD.get(name) == path)


def pass_code(walk: Pass, step: Step, key: int, also: Iterable[str] = ()) -> StatementResult | None:
    """Go on behind undrawn Python: what it binds, and what it read, is known after a run, so there is no result.

    `also` are names that code in definitions reads, which may be called.
    """
    statement = step.statement
    if statement.operator in PROCESSES:
        pass_processes(walk, step, key)
        return None
    if _orders_anew(walk, statement):
        return None
    again = _named_again(statement.text) if statement.operator == CODE else frozenset()
    for place, name in enumerate(statement.names):
        if name not in again or name not in walk.prelude:
            walk.names.bind(name, UNKNOWN, (key, place))
            walk.names.note(name, "", True)
        walk.ports[step.id, place] = PortInference(node=step.id, output=place, known_after_run=True)
    touched = names_of_code(statement.text)
    for name in (*touched.reads, *touched.later, *also):
        if name in walk.names.values and name not in walk.prelude:
            walk.names.write(name, UNKNOWN, key)
    walk.names.rewritten = True
    if "set_default_d" in statement.text:  # of a dtype, or a device
        walk.way = walk.way._replace(autocast=GUESS)
    return None
