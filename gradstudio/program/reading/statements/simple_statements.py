"""Simple statements of a text: assignments, writes in place, and calls for their effect."""

import ast

import msgspec

from gradstudio.graph.analysis.program_analysis import MAX_NESTED
from gradstudio.graph.text.code_records import CODE
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.catalogue.out_variants import OUT
from gradstudio.operators.model import Family, Operator
from gradstudio.program.reading.code.visible_devices import decides_devices
from gradstudio.program.reading.expressions.expression_reader import Expressions, refusal_at
from gradstudio.program.reading.graph_builder import GraphBuilder, Port, WiredResult
from gradstudio.program.reading.imports import Modules
from gradstudio.program.reading.name_scope import Scope
from gradstudio.program.reading.refusals import statement_words
from gradstudio.program.reading.statements.assignments import Assignments

_AUGMENTED = {
    ast.Add: "iadd", ast.Sub: "isub", ast.Mult: "imul", ast.Div: "itruediv", ast.FloorDiv: "ifloordiv",
    ast.Mod: "imod", ast.Pow: "ipow", ast.MatMult: "imatmul", ast.BitAnd: "iand", ast.BitOr: "ior",
    ast.BitXor: "ixor", ast.LShift: "ilshift", ast.RShift: "irshift",
}  # fmt: skip
_DEEPEST_BESIDE_TARGET = MAX_NESTED // 2


class Statements:
    """Reads the simple statements of one text into a draft."""

    def __init__(self, draft: GraphBuilder, scope: Scope, modules: Modules, expressions: Expressions) -> None:
        """Read into this draft, names by this scope."""
        self._draft, self._scope, self._modules, self._expressions = draft, scope, modules, expressions
        self._assignments = Assignments(draft, scope, modules, expressions)

    def read(self, statement: ast.stmt) -> None:
        """Add what a statement does.

        Raises:
            NotReadable: a canvas cannot express it.
        """
        for target in _targets(statement):
            if not self._gives_part_of_torch(statement):
                self._refuse_in_code(target)
        match statement:
            case ast.Assign(targets=targets, value=value):
                self._assignments.read(targets, value)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self._assignments.read([target], value)
            case ast.AugAssign(target=target, op=operator, value=value):
                self._augment(target, operator, value)
            case ast.Expr(value=value):
                self._expression(value)
            case ast.Assert(test=test, msg=message):
                ports = {"condition": self._expressions.port(test)}
                if message is not None:
                    ports["message"] = self._expressions.port(message)
                self._draft.node("python.assert", ports)
            case ast.Pass() | ast.AnnAssign():
                pass
            case _:
                raise refusal_at(statement, statement_words(statement))

    # -------------------------------------------------------------- writes

    def _gives_part_of_torch(self, statement: ast.stmt) -> bool:
        """Whether it sets an attribute to what torch makes: ``net.fc = nn.Linear(2, 3)``."""
        match statement:
            case ast.Assign(targets=[ast.Attribute()], value=ast.Call(func=function)):
                path = self._modules.path(function) or ""
                return path.startswith("torch.") and not decides_devices(statement)
            case _:
                return False

    def _refuse_in_code(self, target: ast.expr) -> None:
        """What only code knows has attributes that are read; a write into one may do anything."""
        root, reads_attribute = target, False
        while isinstance(root, ast.Attribute | ast.Subscript):
            reads_attribute = reads_attribute or isinstance(root, ast.Attribute)
            root = root.value
        found = self._scope.find(root.id) if reads_attribute and isinstance(root, ast.Name) else None
        maker = self._draft.maker(found) if isinstance(found, WiredResult) else None
        if maker is not None and maker.operator == CODE:
            raise refusal_at(target, "code above made what this writes into: it may do anything.")

    def _augment(self, target: ast.expr, operator: ast.operator, value: ast.expr) -> None:
        if not isinstance(target, ast.Name | ast.Subscript | ast.Attribute):
            raise refusal_at(target, "this cannot be changed in place.")
        a = self._expressions.port(target)
        begun = self._draft.count_in(self._draft.body)
        if self._draft.has_code and isinstance(target, ast.Name) and self._draft.family(a) is Family.UNKNOWN:
            raise refusal_at(target, "only a run tells whether this changes the value or the name.")
        ports: dict[str, Port] = {"a": a, "b": self._expressions.port(value)}
        is_apart = self._draft.has_statement_since(begun) or _is_deep(value)
        rebinds = isinstance(target, ast.Name) and self._draft.family(a) in (Family.NUMBER, Family.TEXT)
        names = (target.id,) if rebinds and isinstance(target, ast.Name) else ()
        made = self._draft.node(f"operator.{_AUGMENTED[type(operator)]}", ports, names=names)
        self._assignments.name(made, names)
        if isinstance(target, ast.Name):
            if not names:
                self._scope.bind(target.id, made)
        elif isinstance(a, WiredResult) and is_apart:
            self._assignments.put_back(a, made)

    def _expression(self, value: ast.expr) -> None:
        if self._expressions.literal(value) is not None:
            return  # a bare string is a note, a bare number nothing
        if (method := self._expressions.inlined.find(value)) is not None:
            with self._expressions.inlined.entered(value, method) as result:
                if isinstance(result, ast.Call):
                    self._expression(result)
            return
        if isinstance(value, ast.Name | ast.Tuple | ast.List):
            self._assignments.bind(value, ())
            return
        made = self._expressions.made(value)
        node = self._draft.graph.nodes[made.source]
        self._draft.graph.nodes[made.source] = msgspec.structs.replace(node, nested=False)
        self._written_by_call(value, made)

    def _written_by_call(self, value: ast.expr, made: WiredResult) -> None:
        """After `x.add_(1)` and `torch.add(x, 1, out=y)` the name means the tensor as it was left by that."""
        operator = load().get(self._draft.graph.nodes[made.source].operator)
        if not isinstance(value, ast.Call) or operator is None or not operator.results:
            return
        for k, owner in enumerate(_written_into(value, operator)):
            if isinstance(owner, ast.Name) and self._scope.find(owner.id) is not None:
                self._scope.bind(owner.id, self._draft.result(made.source, k))


def _targets(statement: ast.stmt) -> list[ast.expr]:
    """What a statement binds or writes into, one by one."""
    match statement:
        case ast.Assign(targets=targets):
            parts = [part for target in targets for part in ast.walk(target)]
            return [part for part in parts if isinstance(part, ast.Attribute | ast.Subscript) and _is_written(part)]
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return [target]
        case _:
            return []


def _is_written(part: ast.Attribute | ast.Subscript) -> bool:
    return isinstance(part.ctx, ast.Store)


def _written_into(call: ast.Call, operator: Operator) -> list[ast.expr]:
    """What a call writes its results into, as far as it is what stands in front of a dot or behind `out=`."""
    if operator.writes[:1] == ("self",) and isinstance(call.func, ast.Attribute):
        return [call.func.value]
    if not operator.writes or operator.parameter(OUT) is None:
        return []
    given = next((keyword.value for keyword in call.keywords if keyword.arg == OUT), None)
    if isinstance(given, ast.Tuple | ast.List):
        return list(given.elts)
    return [given] if given is not None else []


def _is_deep(value: ast.expr) -> bool:
    """Whether an expression may get lines of its own because it is nested so deeply."""
    level: list[ast.AST] = [value]
    for _ in range(_DEEPEST_BESIDE_TARGET):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True
