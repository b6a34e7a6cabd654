"""Definitions of a text: a function, or a class of nn.Module, as a group that nodes call (semantics §15)."""

import ast
from collections.abc import Callable, Sequence

from gradstudio.graph.errors import Refused
from gradstudio.graph.groups.definitions import attributes_of, result_words
from gradstudio.graph.model import (
    DEFINITION_INPUTS,
    DEFINITION_OUTPUTS,
    ROOT,
    Definition,
    Edges,
)
from gradstudio.graph.names import check, fresh_name
from gradstudio.graph.text.statements import SELF
from gradstudio.operators.calls.argument_binding import Several, Written
from gradstudio.operators.model import Family
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.code.code_reader import CodeReader
from gradstudio.program.reading.code.code_statement import codes_in
from gradstudio.program.reading.definitions.definition_outlines import Outline
from gradstudio.program.reading.expressions.expression_reader import Expressions
from gradstudio.program.reading.graph_builder import GraphBuilder, Port, WiredResult
from gradstudio.program.reading.name_scope import Scope

Named = Callable[[int, int], tuple[str, ...]]
"""What the comment beside the `return` on a line calls so many outputs; () when it says nothing of that."""
ReadBody = Callable[[Sequence[ast.stmt], int, int], None]
"""Reads statements: those, how deep they stand, and the line behind which comments are no longer theirs."""


class Inside:
    """Reads the inside of one definition into a draft of its own."""

    def __init__(
        self,
        found: Outline,
        draft: GraphBuilder,
        scope: Scope,
        expressions: Expressions,
        code: CodeReader,
        body: ReadBody,
        named: Named,
    ) -> None:
        """What is read goes through `body` and `code`; `named` knows what comments call the outputs."""
        self._named, self._code = named, code
        self._found, self._draft, self._scope = found, draft, scope
        self._expressions, self._body = expressions, body
        self._inputs: dict[str, str] = {}
        self._defaults: dict[str, str] = {}

    def read(self, note: str, end: int) -> Definition:
        """The definition, whose names are checked; its inside is finished, but not yet looked at as a whole.

        Raises:
            NotReadable: a canvas cannot express it.
        """
        found, draft = self._found, self._draft
        settings = self._take(found.settings)
        taken = self._take(found.taken)
        inputs = (*settings, *taken)
        draft.graph.edges = Edges(inputs)
        self._bind(found.settings, settings, 0)
        if found.setup:
            self._body(found.setup, found.setup[0].col_offset, _end(found.setup))
        setup = draft.order(ROOT)
        self._code.read_members(found.members)
        self._scope.keep(SELF)
        self._bind(found.taken, taken, len(settings))
        if found.body:
            self._body(found.body, found.body[0].col_offset, end)
        elif found.result is not None:
            self._body((), found.result.col_offset - len("return "), end)
        outputs = self._returned()
        graph = draft.finish()
        kept = tuple(draft.kept)
        definition = Definition(
            found.statement.name,
            inputs,
            outputs,
            graph,
            defaults=self._defaults,
            is_module=found.is_module,
            settings=settings,
            setup=setup,
            kept=kept,
            note="\n".join(filter(None, (note, found.note))),
        )
        graph.edges = Edges(inputs, outputs, attributes_of(definition))
        return definition

    def _take(self, parameters: Sequence[tuple[ast.arg, ast.expr | None]]) -> tuple[str, ...]:
        """The names of arguments, made unique; what they are when they are not given."""
        names = []
        for argument, default in parameters:
            try:
                name = check(argument.arg)
            except Refused as error:
                raise NotReadable(str(error), argument.lineno, argument.col_offset) from None
            name = fresh_name({*self._inputs.values(), *self._draft.graph.definitions}, name)
            if name != argument.arg and codes_in([self._found.statement]):
                reason = f"'{argument.arg[:60]}' has another name in a drawing, and the code between might read it."
                raise NotReadable(reason, self._found.statement.lineno, self._found.statement.col_offset)
            self._inputs[name] = name
            names.append(name)
            if default is not None:
                literal = self._expressions.literal(default)
                if literal is None:
                    reason = f"The default of '{argument.arg}' is a literal here: give others where it is called."
                    raise NotReadable(reason, default.lineno, default.col_offset)
                self._defaults[name] = literal.text
        return tuple(names)

    def _bind(self, parameters: Sequence[tuple[ast.arg, ast.expr | None]], names: tuple[str, ...], first: int) -> None:
        for k, (argument, _) in enumerate(parameters):
            self._scope.bind(
                argument.arg, WiredResult(family=Family.UNKNOWN, source=DEFINITION_INPUTS, output=first + k)
            )

    def _returned(self) -> tuple[str, ...]:
        """Wire what is returned; what the outputs are called."""
        draft, result = self._draft, self._found.result
        if result is None:
            return ()
        draft.line = result.lineno
        value = self._expressions.value(result)
        several = isinstance(value, Several) and not value.is_list
        parts = value.items if isinstance(value, Several) and several else (value,)
        sources = []
        for k, part in enumerate(parts):
            source = self._wired(self._expressions.one(part))
            draft.wire(source, DEFINITION_OUTPUTS, str(k))
            sources.append((source.source, source.output))
        return self._named(result.lineno, len(sources)) or result_words(draft.graph, sources)

    def _wired(self, port: Port) -> WiredResult:
        if isinstance(port, Written):
            return self._draft.node("python.literal", {"value": port}, nested=True)
        return port


def _end(statements: Sequence[ast.stmt]) -> int:
    return (statements[-1].end_lineno or statements[-1].lineno) + 1
