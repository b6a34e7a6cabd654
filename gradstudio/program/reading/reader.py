"""Read: a Python text as a graph. Parsed, never executed; what a canvas cannot express is refused with its place."""

import ast
import contextlib
from collections.abc import Sequence
from functools import partial

import msgspec

from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Block, BodyId, Graph, ItemId
from gradstudio.graph.names import bound_names, check, names_at_end
from gradstudio.graph.text.statements import SELF
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.code.body_reader import with_drawn_bodies
from gradstudio.program.reading.code.code_reader import CodeReader
from gradstudio.program.reading.code.code_statement import CodeStatement, as_typed, codes_in, names_taken
from gradstudio.program.reading.code.fallback import keep_code
from gradstudio.program.reading.code.undrawn import Key, Undrawn, holds_while
from gradstudio.program.reading.comments import Comment, Comments, Notes
from gradstudio.program.reading.definitions.definition_outlines import outline
from gradstudio.program.reading.definitions.definition_reader import Inside
from gradstudio.program.reading.definitions.method_inlining import Inlined, Methods
from gradstudio.program.reading.desugar.closures import Defined, names_in
from gradstudio.program.reading.desugar.nested_functions import LiftedFunction
from gradstudio.program.reading.desugar.rewriter import desugared
from gradstudio.program.reading.expressions.expression_reader import Expressions, StoredOf
from gradstudio.program.reading.expressions.literal_expressions import Literals
from gradstudio.program.reading.graph_builder import GraphBuilder, WiredResult
from gradstudio.program.reading.graph_refusals import graph_refusals, names_of_definitions
from gradstudio.program.reading.imports import Modules
from gradstudio.program.reading.main_part import is_report, main_part
from gradstudio.program.reading.name_scope import Scope
from gradstudio.program.reading.parser import MAX_NESTING, parse, plain_text
from gradstudio.program.reading.program_header import (
    AUTO,
    as_text,
    class_of_device,
    header_before,
    is_path_line,
    read_device,
    read_header,
)
from gradstudio.program.reading.read_text import Read
from gradstudio.program.reading.refusal_report import ConsequentRefusal, RefusalReport, all_in_characters
from gradstudio.program.reading.statements.block_statements import Blocks
from gradstudio.program.reading.statements.simple_statements import Statements
from gradstudio.program.reading.syntax_queries import walk

END = 2**62
"""A line behind every other."""


def read_script(
    text: str,
    stored: StoredOf | None = None,
    *,
    pasted: bool = False,
    canvas: Graph | None = None,
    keeps_code: bool = False,
    kept: Sequence[Sequence[Key]] = (),
) -> Read:
    """The graph of a text, without places.

    Args:
        text: Python source.
        stored: gives the stored tensor in a file named from the text's folder, for texts that load one.
        pasted: the usual imports need not be repeated (semantics §14).
        canvas: the text goes to the end of this program and may read the names that are bound there.
        keeps_code: what a canvas does not draw is kept as it was typed, on nodes of code, and not refused.
        kept: where statements begin that are code whatever they are; those of one sequence are one node.

    Raises:
        NotReadable: with line, column and reason; nothing is half-read.
    """
    text = plain_text(text)
    tree = parse(text)
    is_lenient = keeps_code and canvas is None

    def read(text: str, tree: ast.Module, *, of_code: bool = False) -> Read:
        return _Reader(text, desugared(tree), stored, pasted, canvas, is_lenient=is_lenient, of_code=of_code).read()

    refused: Sequence[NotReadable] = ()
    try:
        if not kept and not (is_lenient and holds_while(text, tree)):
            return read(text, tree)
    except NotReadable as error:
        refused = error.all
        if not is_lenient:
            raise all_in_characters(refused, text) from None
    undrawn = Undrawn(text, kept)
    return with_drawn_bodies(text, undrawn.typed, keep_code(undrawn, refused, partial(read, text)), read)


class _Reader:
    """One text, read from top to bottom."""

    def __init__(
        self,
        text: str,
        tree: ast.Module,
        stored: StoredOf | None,
        pasted: bool,
        canvas: Graph | None,
        outer: "_Reader | None" = None,
        *,
        is_lenient: bool = False,
        of_code: bool = False,
    ) -> None:
        self._is_lenient: bool = is_lenient if outer is None else outer._is_lenient
        self._tree, self._text, self._stored = tree, text, stored
        self._is_inside = outer is not None
        self._comments: Comments = Comments(text) if outer is None else outer._comments
        self._draft: GraphBuilder
        self._scope: Scope
        self._modules: Modules
        self._literals: Literals
        self._insides: list[GraphBuilder] = []
        self._told: RefusalReport = RefusalReport(None if outer is None else outer._told, is_lenient)
        self._methods: Methods = {} if outer is None else outer._methods
        if outer is not None:
            self._draft, self._modules, self._literals = outer._draft.inside(), outer._modules, outer._literals
            self._scope = Scope(outer._scope.used, frozenset(outer._scope.bindings()))
            self._scope.has_device, self._scope.offers = outer._scope.has_device, not self._is_lenient
            self._join(stored)
            self._is_pasted_on, self._settings = False, False
            self._depth, self._end, self._device = 1, END, (0, "")
            return
        used = {node.id for node in walk(self._tree) if isinstance(node, ast.Name)} | names_taken([self._tree])
        self._draft = GraphBuilder(canvas, of_code=of_code)
        self._scope = Scope(used)
        self._scope.offers = not is_lenient
        self._modules = Modules(is_lenient=is_lenient)
        if canvas is not None:
            self._take(canvas, used)
        if pasted:
            self._modules.take_usual()
        self._literals = Literals(text, self._modules)
        self._join(stored)
        self._is_pasted_on = canvas is not None
        self._settings = canvas is None
        self._depth, self._end = 0, END
        self._device = (0, "")

    def _join(self, stored: StoredOf | None) -> None:
        self._expressions = Expressions(self._draft, self._scope, self._modules, self._literals, stored)
        self._statements = Statements(self._draft, self._scope, self._modules, self._expressions)
        self._code = CodeReader(self._draft, self._scope, self._modules, is_inside=self._is_inside)
        self._blocks = Blocks(self._draft, self._scope, self._modules, self._expressions, self._body)
        self._inlined = Inlined(self._draft, self._scope, self._expressions, self._method_body, self._methods)
        self._expressions.inlined = self._inlined

    def read(self) -> Read:
        """Read everything."""
        statements = self._tree.body
        self._draft.graph.header = header_before(statements)
        if statements and is_report(statements[-1]):
            self._end = statements[-1].lineno
            statements = statements[:-1]
        statements = [inner for statement in statements for inner in main_part(statement)]
        self._blocks.look_ahead(statements)
        self._inlined.taken = names_in([one for one in statements if not isinstance(one, Defined)])
        try:
            self._body(statements, 0, self._end)
        except RecursionError:
            raise NotReadable(f"It is nested more than {MAX_NESTING} deep.", self._draft.line) from None
        if not self._is_lenient:
            self._told.tell()
        if not self._draft.of_code and (self._is_pasted_on or not self._scope.has_device):
            for draft in (self._draft, *self._insides):
                draft.follow_document_device()
        graph = self._draft.finish()
        self._check(graph, [*self._told.all(), *names_of_definitions(self._insides, self._draft.graph)])
        part, outer = self._draft.part()
        inner = {item: line for draft in self._insides for item, line in draft.lines.items()}
        return Read(part, {**inner, **self._draft.lines}, outer, self._device)

    def _take(self, canvas: Graph, used: set[str]) -> None:
        """Bind what the names of a canvas mean at its end."""
        used.update(bound_names(canvas))
        self._scope.has_device = True
        for name, (item, output) in names_at_end(canvas).items():
            self._scope.bind(name, self._draft.result(item, output))

    def _check(self, graph: Graph, told: Sequence[NotReadable]) -> None:
        """Refuse what is told, and what the rules of a graph refuse."""
        found = [*told, *graph_refusals(graph, self._draft.lines, self._told.lines)]
        if found:
            raise NotReadable(
                found[0].reason, found[0].line, found[0].column, tuple(found[1:]) if self._is_lenient else ()
            )

    def _body(self, statements: Sequence[ast.stmt], column: int, end: int) -> None:
        """Read statements into the draft's body; comments above line `end` that are as deep stay with it."""
        if self._depth >= MAX_NESTING:
            raise NotReadable(f"Blocks are nested more than {MAX_NESTING} deep.", statements[0].lineno)
        self._depth += 1
        groups: list[BodyId] = []
        notes = Notes(self._comments)
        for k, statement in enumerate(statements):
            following = statements[k + 1].lineno if k + 1 < len(statements) else end
            outer = self._comments
            if isinstance(statement, LiftedFunction):
                self._comments, following = outer.within(statement), statement.lineno + 1
            above, beside = self._comments.of(statement, following)
            if isinstance(statement, CodeStatement):  # it holds those inside, and the one behind it
                above, beside = [one for one in above if one.line < statement.lineno], None
            self._groups(above, groups, notes, statement.lineno)
            inside = self._draft.body, self._depth
            try:
                if isinstance(statement, ast.FunctionDef | ast.ClassDef) and self._depth == 1 and not groups:
                    self._define(statement, notes, following)
                else:
                    self._statement(statement, notes, beside, following)
            except NotReadable as error:
                for one in error.all if self._is_lenient else (error,):
                    self._told.take(one, statement)
                self._draft.body, self._depth = inside
                self._pretend(statement)
            self._comments = outer
        self._depth -= 1
        self._groups(self._comments.tail(end, column), groups, notes, end)
        self._tail(notes)
        while groups:
            self._draft.body = groups.pop()

    def _pretend(self, statement: ast.stmt) -> None:
        """Go on as if a refused statement were code, to see what else is refused; what is read is thrown away."""
        if self._is_lenient and not isinstance(statement, CodeStatement):
            with contextlib.suppress(NotReadable, SyntaxError):
                code = as_typed(statement, self._comments.lines)
                self._draft.pretend(self._code.read(code, is_pretended=True), statement)

    def _method_body(self, statements: Sequence[ast.stmt], end: int, comments: Comments) -> None:
        """Read the statements of a method where it is called, with the comments that stand in it."""
        line, outer, self._comments = self._draft.line, self._comments, comments
        count = self._told.count
        self._blocks.look_ahead(statements)
        try:
            self._body(statements, statements[0].col_offset, end)
        finally:
            self._comments, self._draft.line = outer, line
        if self._told.count > count:
            raise ConsequentRefusal("its method cannot be read", line)

    # -------------------------------------------------------------- statements

    def _statement(self, statement: ast.stmt, notes: Notes, beside: Comment | None, following: int) -> None:
        item, count = self._item(statement, notes, following)
        if item is not None:
            note, blank = notes.take(statement.lineno)
            self._draft.comment(item, note, beside.beside if beside is not None else "", blank and bool(count))
        elif beside is not None and beside.text:
            notes.add([beside.text], beside.line)

    def _define(self, statement: ast.FunctionDef | ast.ClassDef, notes: Notes, following: int) -> None:
        """Read a function or a class as a group."""
        self._draft.line, name = statement.lineno, statement.name
        note, _ = notes.take(statement.lineno)
        try:
            known = check(name) in self._draft.graph.definitions or self._scope.find(name) is not None
        except Refused as error:
            raise NotReadable(str(error), statement.lineno, statement.col_offset) from None
        if known:
            reason = f"'{name[:60]}' is bound above: a definition has a name of its own."
            raise NotReadable(reason, statement.lineno, statement.col_offset)
        found = outline(statement, self._modules, self._comments)
        self._modules.forget(name)
        imported, holds_code = self._modules.paths(), bool(codes_in([statement]))
        reader = _Reader(self._text, self._tree, self._stored, False, None, self)
        reader._blocks.look_ahead([*found.setup, *found.body])
        reader._inlined.own = found.methods
        reader._inlined.taken = names_in([*found.setup, *found.body, *found.arguments])
        self._methods[name] = found.methods
        body, outputs = reader._body, self._comments.outputs
        inside = Inside(found, reader._draft, reader._scope, reader._expressions, reader._code, body, outputs)
        try:
            definition = inside.read(note, following)
            if not reader._told.count:
                reader._check(definition.graph, ())
        except NotReadable as error:
            reader._told.take(error, found.result or statement)
        self._modules.forget_all(SELF)
        if holds_code:  # what that imports, or binds, is the definition's own
            self._modules.become(imported)
        if reader._told.count:  # told, or it follows from what is told
            self._told.lose(statement)
            if not len(self._told):  # what it follows from was not refused after all
                self._told.take(NotReadable("It cannot be read.", statement.lineno, statement.col_offset), statement)
            self._pretend(statement)
            return
        definition.graph.edges, definition.graph.definitions = None, {}
        self._draft.define(definition, reader._draft)
        self._insides.append(reader._draft)

    def _item(self, statement: ast.stmt, notes: Notes, following: int) -> tuple[ItemId | None, int]:
        """Read a statement: the item that has its comments, and how many stand before it in the body."""
        self._draft.line = statement.lineno
        if self._is_setting(statement):
            return None, 0
        statement = self._second_device(statement)
        body = self._draft.body
        count = self._draft.count_in(self._draft.body)
        first: ItemId | None = None
        match statement:
            case ast.Import() | ast.ImportFrom():
                self._modules.read(statement)
                return None, 0
            case ast.Expr(value=ast.Constant(value=str() as words)):
                notes.add(words.strip().splitlines(), statement.lineno, statement.end_lineno)
                return None, 0
            case CodeStatement():
                first = self._code.read(statement)
            case ast.With() | ast.For() | ast.If():
                first = self._blocks.read(statement, following)
            case _:
                self._statements.read(statement)
                if self._draft.is_of_code_alone(body, count):
                    reason = "Code above made all that this speaks of: it is code, too."
                    raise NotReadable(reason, statement.lineno, statement.col_offset)
        self._settings = self._settings and self._draft.holds_only("python.literal")
        if first is None and self._draft.count_in(body) > count:
            first = self._draft.last_of(body)
        return first, count

    def _is_setting(self, statement: ast.stmt) -> bool:
        if self._depth == 1:  # in a loop it is set in each turn
            header = read_header(statement, self._modules, self._draft.graph.header) if self._settings else None
            if header is not None:
                self._draft.graph.header = header
                return True
            if self._is_device(statement):
                self._device = statement.lineno, class_of_device(statement)
                return True
        return is_path_line(statement, self._modules)

    def _is_device(self, statement: ast.stmt) -> bool:
        """Take a choice of device, wherever it stands: nothing depends on when it is made."""
        header = self._draft.graph.header
        before = header.device if self._scope.has_device else None
        device = read_device(statement, self._modules, self._is_available, before)
        if device is None or self._is_pasted_on:
            return device is not None  # the canvas has its own
        if reason := as_text(self._tree, statement):
            raise NotReadable(reason, statement.lineno, statement.col_offset)
        if before not in (None, device) and not isinstance(statement, ast.If):
            reason = f"'device' is \"{before}\" above: a canvas has one device. Write the other one where it is used."
            raise NotReadable(reason, statement.lineno, statement.col_offset)
        self._draft.graph.header = msgspec.structs.replace(header, device=device)
        self._scope.has_device = True
        return True

    def _second_device(self, statement: ast.stmt) -> ast.stmt:
        """`dev = torch.device("cuda" if … else "cpu")` is the document's device under a second name."""
        match statement:
            case ast.Assign(targets=[ast.Name() as target], value=ast.Call() | ast.Attribute() as value):
                device = ast.copy_location(ast.Name("device", ast.Load()), value)
                choice = ast.copy_location(ast.Assign([ast.Name("device", ast.Store())], value), statement)
                is_free = not self._scope.has_device or self._draft.graph.header.device == AUTO
                named = self._is_available
                if is_free and self._depth == 1 and read_device(choice, self._modules, named, None) == AUTO:
                    self._is_device(choice)
                    return ast.copy_location(ast.Assign([target], device), statement)
        return statement

    def _is_available(self, name: str) -> bool:
        found = self._scope.find(name)
        maker = self._draft.maker(found) if isinstance(found, WiredResult) else None
        return maker is not None and maker.operator == "torch.cuda.is_available"

    # -------------------------------------------------------------- comments

    def _groups(self, above: list[Comment], groups: list[BodyId], notes: Notes, line: int) -> None:
        """Open and close the groups that comments mark; what is left waits for what follows on `line`."""
        for comment in above:
            title = comment.opens
            if title is not None and self._depth + len(groups) >= MAX_NESTING:
                raise NotReadable(f"Groups are nested more than {MAX_NESTING} deep.", comment.line)
            if title is not None:
                self._open(title, groups, *notes.take(comment.line))
            elif comment.closes and groups:
                self._tail(notes)
                self._draft.body = groups.pop()
            elif comment.alone or comment.text:
                notes.add([comment.note], min(comment.line, line))

    def _open(self, title: str, groups: list[BodyId], note: str, blank: bool) -> None:
        item = self._draft.block_id()
        has_more = bool(self._draft.count_in(self._draft.body))
        block = Block(id=item, kind="group", title=title, note=note, blank_before=blank and has_more)
        self._draft.block(block, {})
        groups.append(self._draft.body)
        self._draft.body = BodyId(item)
        self._settings = False

    def _tail(self, notes: Notes) -> None:
        if text := notes.end():
            body = self._draft.body
            before = self._draft.graph.tails.get(body)
            self._draft.graph.tails[body] = "\n".join([*([before] if before else []), text])
