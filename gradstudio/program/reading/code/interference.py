"""What code between drawn statements could do to them unseen: those are kept as code, too, until no doubt is left.

A canvas draws what a name means, what a definition is and where a device comes from as the text says it. Where code
reads, binds or changes the same, the text does not say enough.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Sequence, Set

from gradstudio.graph.model import Graph
from gradstudio.graph.names import RESERVED
from gradstudio.graph.text.code_records import STANDARD
from gradstudio.program.reading.code.code_imports import imported
from gradstudio.program.reading.code.code_statement import CodeStatement, codes_in
from gradstudio.program.reading.code.inspection import looks_into_functions
from gradstudio.program.reading.code.star_imports import Stars
from gradstudio.program.reading.code.undrawn import (
    DRAWN_METHODS,
    beside_definitions,
    every_statement,
    open_bodies,
)
from gradstudio.program.reading.code.visible_devices import decides_devices
from gradstudio.program.reading.desugar.closures import free_names, local_names, outer_names
from gradstudio.program.reading.desugar.global_names import is_looked_up
from gradstudio.program.reading.desugar.own_device import DEVICE, takes_device
from gradstudio.program.reading.imports import is_future
from gradstudio.program.reading.syntax_queries import walk

_HARMLESS = {"device", "Path", "HERE", "load_file"}
"""Words of the writer that a text may bind to what it likes, as long as it stores no tensors."""
_MEANT = {**STANDARD, "Path": "pathlib.Path", "load_file": "safetensors.torch.load_file"}
_TAME = sys.stdlib_module_names | set(
    "torch numpy matplotlib tqdm pandas PIL torchvision torchaudio torchtext scipy sklearn seaborn einops requests "
    "datasets transformers tiktoken tokenizers cv2 plotly IPython gym gymnasium skimage imageio yaml tensorboardX "
    "torchmetrics torchsummary torchinfo pytorch_lightning lightning timm nltk spacy networkx sympy psutil rich".split()
)
"""Packages whose import changes nothing that a canvas reads."""
_ENVIRONMENT = frozenset({"environ", "putenv", "setenv"})


def is_all_in_doubt(statements: Sequence[ast.stmt]) -> bool:
    """Whether code may do what no syntax shows, so that only the text as a whole can be kept as it is."""
    codes = codes_in(statements)
    if any(one.names.is_open for one in codes) or Stars(statements).are_in_doubt():
        return True
    return any(is_future(one) for code in codes for one in code.statements)  # it stands first, or nowhere


def needs_whole(statements: Sequence[ast.stmt], graph: Graph) -> bool:
    """Whether only the text as a whole can be kept as it is; `graph` is what was read of it."""
    codes = codes_in(statements, with_definitions=False)
    harmless = frozenset() if graph.tensors else _HARMLESS
    for one in codes:
        meant = imported(one.statements)
        for name in (*one.names.binds, *one.names.rebound, *one.names.removes):
            if name in RESERVED and name not in harmless and meant.get(name) != _MEANT.get(name, ""):
                return True
    return _sets_environment(statements)


def drawn_in_doubt(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The drawn statements of a text that are to be kept as code, whatever is read of it."""
    codes = codes_in(statements)
    beside = codes_in(statements, with_definitions=False)
    drawn = [one for one in beside_definitions(statements) if not isinstance(one, CodeStatement)]
    mentioned = mentioned_names(statements)
    unsure = {name for one in beside for name in one.names.binds if name not in one.names.surely}
    unsure |= {name for one in beside for name in (*one.names.removes, *one.names.rebound)}
    changed = {name for one in beside for name in (*one.names.binds, *one.names.removes, *one.names.rebound)}
    outer = outer_names(statements) if codes else {}
    brought = {name for name, names in outer.items() if names}
    words = _Words(codes)
    found = list(Stars(statements).take_along())
    for one in drawn:
        if not isinstance(one, _DEFINED):
            continue
        if one.name in changed or (one.name in mentioned and words.must_keep(one)):
            found.append(one)
        elif not unsure.isdisjoint(free_names(one)):
            found += _reading(one, unsure)  # it may have no value when it is called
        elif one.name in mentioned and outer.get(one.name):
            found += _not_looked_up(one, set(outer[one.name]), brought - mentioned)
        elif one.name in mentioned and _holds_functions(one):
            found += _holders(one)
        if isinstance(one, ast.ClassDef) and words.act:
            found += [] if _is_faithful(one, words) else _members(one)
            found += [inner for inner in _inner(one) if any(_reads_mode(part) for part in _own_parts(inner))]
    rebound = {name for one in beside for name in one.names.rebound}
    found += [one for one in _innermost(drawn) if not rebound.isdisjoint(_names_in(one))]
    return found


def read_in_doubt(statements: Sequence[ast.stmt], graph: Graph) -> list[ast.stmt]:
    """The drawn statements that are to be kept as code because of how they were read; `graph` is what was."""
    drawn = [one for one in beside_definitions(statements) if not isinstance(one, CodeStatement)]
    mentioned = mentioned_names(statements)
    inside = [one for definition in statements for one in _not_bound_inside(definition, graph)]
    return [*_not_bound(drawn, mentioned, graph), *inside, *_devices_behind_code(statements, graph)]


def mentioned_names(statements: Sequence[ast.stmt]) -> set[str]:
    """The names of the program that code mentions, that in definitions among it."""
    found = {name for one in codes_in(statements, with_definitions=False) for name in _mentioned(one)}
    classes = [one for one in statements if isinstance(one, ast.ClassDef)]
    members = [part for one in classes for part in one.body if isinstance(part, CodeStatement)]
    found |= {name for one in members for name in {*_mentioned(one)} - {*one.names.binds}}
    for function in (one for statement in statements for one in _functions_of(statement)):
        names = {name for one in codes_in(function.body) for name in _mentioned(one)}
        found |= names - local_names(function) if names else set()
    return found


def _functions_of(statement: ast.stmt) -> list[ast.FunctionDef]:
    """The functions of a definition whose statements are drawn."""
    if isinstance(statement, ast.FunctionDef):
        return [statement]
    members = statement.body if isinstance(statement, ast.ClassDef) else []
    return [one for one in members if isinstance(one, ast.FunctionDef)]


def _inner(definition: ast.stmt) -> list[ast.stmt]:
    """The drawn statements in a definition, those in its blocks too."""
    members = set(map(id, definition.body)) if isinstance(definition, ast.ClassDef) else set[int]()
    inner = list(every_statement([definition]))[1:]
    return [one for one in inner if not isinstance(one, CodeStatement) and id(one) not in members]


def _members(definition: ast.ClassDef) -> list[ast.stmt]:
    """What stands in a class beside the methods that a canvas draws."""
    return [
        one
        for one in definition.body
        if not (isinstance(one, ast.FunctionDef) and one.name in DRAWN_METHODS) and not _says_nothing(one)
    ]


def _says_nothing(member: ast.stmt) -> bool:
    """Whether it is code already, or a docstring."""
    return isinstance(member, CodeStatement | ast.Pass) or (
        isinstance(member, ast.Expr) and isinstance(member.value, ast.Constant)
    )


def _reading(definition: ast.stmt, names: Set[str]) -> list[ast.stmt]:
    """The statements in a definition that name one of them: as code they do as they are written; else all of it."""
    inner = _innermost(_inner(definition))
    if isinstance(definition, ast.ClassDef):
        inner += _members(definition)
    return [one for one in inner if not names.isdisjoint(_names_in(one))] or [definition]


def _not_looked_up(definition: ast.stmt, names: Set[str], brought: Set[str]) -> list[ast.stmt]:
    """The statements in a definition that code calls in which names from around it cannot be looked up.

    A call by code brings nothing from around; what calls definitions that are brought names passes these on.
    """
    if _holds_functions(definition):
        return _reading(definition, {*names, *brought})
    found = [one for one in _innermost(_inner(definition)) if not is_looked_up(one, names)]
    if isinstance(definition, ast.ClassDef):
        found += [one for one in _members(definition) if not {*names, *brought}.isdisjoint(_names_in(one))]
    return found


def _holders(definition: ast.stmt) -> list[ast.stmt]:
    """The statements in a definition that hold functions; else all of it."""
    inner = ast.FunctionDef | ast.Lambda
    found = [one for one in _inner(definition) if any(isinstance(part, inner) for part in _own_parts(one))]
    return found or [definition]


def _not_bound_inside(definition: ast.stmt, graph: Graph) -> list[ast.stmt]:
    """Statements in a definition that bind what code in it reads, and that were read as what binds no name."""
    codes = codes_in([function for function in _functions_of(definition) if function.name in _drawn_in(definition)])
    if not codes:
        return []
    assert isinstance(definition, _DEFINED)
    mentioned = {name for one in codes for name in _mentioned(one)}
    inside = graph.definitions.get(definition.name)
    if inside is None:
        return [definition]
    bound = _bound_names(inside.graph)
    bound[DEVICE] += bound[f"{DEVICE}_"]  # which is its name in a drawing
    wanted: Counter[str] = Counter()
    inner = _innermost(_inner(definition))
    for one in inner:
        wanted.update(set(_stored(one)) if isinstance(one, ast.If) else _stored(one))
    lost = {name for name, count in wanted.items() if name in mentioned and bound[name] < count}
    return [one for one in inner if not lost.isdisjoint(_stored(one))]


_DEFINED = (ast.FunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_HEADS = (*_DEFINED, *_IMPORTS)


def _mentioned(one: CodeStatement) -> set[str]:
    names = one.names
    return {*names.reads, *names.keeps, *names.later, *names.binds, *names.rebound, *names.removes}


class _Words:
    """What code does with what it gets hold of, by the words in it.

    Attributes:
        act: it does more than import.
        attributes: what it may read of a value.
        is_own: it imports modules of which nothing is known, which may read anything.
        look_into_functions: it may ask for more of a function than that it is called.
    """

    def __init__(self, codes: Sequence[CodeStatement]) -> None:
        """See what stands in the code."""
        parts = [part for one in codes for statement in one.statements for part in walk(statement)]
        self.act = any(map(_acts, codes))
        self.attributes = {part.attr for part in parts if isinstance(part, ast.Attribute)}
        self.attributes |= {
            part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)
        }
        self._calls = [part for part in parts if isinstance(part, ast.Call)]
        self.is_own = any(isinstance(part, ast.Import | ast.ImportFrom) and not _is_known(part) for part in parts)
        self.look_into_functions = looks_into_functions(one for code in codes for one in code.statements)

    def must_keep(self, definition: ast.stmt) -> bool:
        """Whether it may ask for what is other where a definition is printed: an argument's name, its text."""
        if self.look_into_functions or not takes_device(definition):
            return self.look_into_functions
        named = [call for call in self._calls for one in call.keywords if one.arg in (DEVICE, None)]
        return any(not (isinstance(call.func, ast.Attribute) and call.func.attr == "to") for call in named)


def _acts(one: CodeStatement) -> bool:
    """Whether it does more than import: it may get hold of whatever the program has made."""
    return not all(isinstance(part, ast.Import | ast.ImportFrom) for part in one.statements)


def _is_faithful(definition: ast.ClassDef, words: _Words) -> bool:
    """Whether a class is printed as it was written, so that whoever looks into an object finds the same.

    Methods beside `forward` are read where they are called: that is the same where nobody else asks for them.
    """
    for one in _members(definition):
        if not isinstance(one, ast.FunctionDef) or words.is_own or one.name in words.attributes:
            return False
    return True


def _drawn_in(definition: ast.stmt) -> frozenset[str]:
    """The names of the functions of a definition that are drawn."""
    return frozenset({definition.name}) if isinstance(definition, ast.FunctionDef) else DRAWN_METHODS


def _reads_mode(part: ast.AST) -> bool:
    """Whether it asks for the mode of an object, which a canvas knows of layers alone."""
    return isinstance(part, ast.Attribute) and part.attr == "training"


def _holds_functions(definition: ast.stmt) -> bool:
    """Whether functions stand in it that are lifted out: what it then reads from around it is not looked for here."""
    inner = [part for part in walk(definition) if isinstance(part, ast.FunctionDef | ast.Lambda)]
    own = len(definition.body) if isinstance(definition, ast.ClassDef) else 1
    return len(inner) > (own if isinstance(definition, ast.ClassDef) else 1)


def _not_bound(drawn: Sequence[ast.stmt], mentioned: set[str], graph: Graph) -> list[ast.stmt]:
    """Statements that bind what code reads, and that were read as something that binds no name."""
    bound = _bound_names(graph)
    wanted: Counter[str] = Counter()
    for one in _innermost(drawn):
        wanted.update(_stored(one))
    lost = {name for name, count in wanted.items() if name in mentioned and bound[name] < count}
    found = [one for one in _innermost(drawn) if not lost.isdisjoint(_stored(one))]
    for one in drawn:
        if isinstance(one, ast.Import | ast.ImportFrom):
            meant = imported([one])
            if any(name in mentioned and STANDARD.get(name) != path for name, path in meant.items()):
                found.append(one)
    return found


def _bound_names(graph: Graph) -> Counter[str]:
    """How often each name is bound in a graph."""
    bound = Counter(name for node in graph.nodes.values() for name in node.names)
    bound.update(name for block in graph.blocks.values() for name in (block.variable, *block.carried))
    return bound


def _devices_behind_code(statements: Sequence[ast.stmt], graph: Graph) -> list[ast.stmt]:
    """Choices of a device behind code that may decide which there are."""
    if graph.header.device == "cpu":
        return []
    found: list[ast.stmt] = []
    is_behind = False
    for one in statements:
        if codes := codes_in([one], with_definitions=False):
            is_behind = is_behind or not all(map(_is_tame, codes))
        elif is_behind and (_mentions(one, "is_available") or "device" in set(_stored(one))):
            found.append(one)
    return found


def _is_tame(one: CodeStatement) -> bool:
    """Whether it imports what is known, and does nothing else that could decide which devices there are."""
    imports = (part for each in one.statements for part in walk(each) if isinstance(part, _IMPORTS))
    return all(map(_is_known, imports)) and not any(map(decides_devices, one.statements))


def _is_known(one: ast.Import | ast.ImportFrom) -> bool:
    """Whether what is imported changes nothing that a canvas reads."""
    if isinstance(one, ast.ImportFrom):
        return not one.level and (one.module or "").partition(".")[0] in _TAME
    return all(alias.name.partition(".")[0] in _TAME for alias in one.names)


def _sets_environment(statements: Sequence[ast.stmt]) -> bool:
    """Whether code sets variables of the environment before torch or numpy are loaded, which read them then."""
    places = [k for k, one in enumerate(statements) if isinstance(one, ast.Import | ast.ImportFrom)]
    ahead = codes_in(statements[: places[-1]]) if places else []
    parts = [part for one in ahead for part in one.statements]
    return any(_mentions(part, word) for part in parts for word in _ENVIRONMENT)


def _innermost(drawn: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Statements without those in them: of a block, its head."""
    return [one for one in drawn if not isinstance(one, _HEADS)]


def _stored(one: ast.stmt) -> list[str]:
    return [part.id for part in _own_parts(one) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]


def _names_in(one: ast.stmt) -> set[str]:
    parts = walk(one) if isinstance(one, _DEFINED) else _own_parts(one)
    return {part.id for part in parts if isinstance(part, ast.Name)}


def _own_parts(one: ast.stmt) -> list[ast.AST]:
    """The parts of a statement; of a block, those of its head; of a comprehension, not what is its own."""
    inner = {id(part) for body in open_bodies(one) for part in body}
    found: list[ast.AST] = []
    waiting: list[ast.AST] = [one]
    while waiting:
        part = waiting.pop()
        found.append(part)
        if isinstance(part, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            waiting.extend(inside for inside in walk(part) if isinstance(inside, ast.Name) and _is_read(inside))
            continue
        waiting.extend(child for child in ast.iter_child_nodes(part) if id(child) not in inner)
    return found


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _mentions(node: ast.AST, word: str) -> bool:
    return any(
        (isinstance(part, ast.Attribute) and part.attr == word) or (isinstance(part, ast.Name) and part.id == word)
        for part in walk(node)
    )
