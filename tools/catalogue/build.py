"""From a row of the selection and torch's signature to a row of the catalogue.

Directives (first word):
    sig (a: tensor, b: number = 1, *, c: bool = False)   the whole signature by hand; without a kind: any
    with a b          the signature that has these arguments      without a b   has not
    rare              an ordinary row, but seldom used: behind the others in a search
    keep a b          leaves in what is left out everywhere else
    kind a=ints?      corrects a kind; "?" accepts None           default a=1   corrects a default
    required a        must be given                               drop a b      leaves arguments out
    choices a='x','y' suggest a=(2, 3)  hint a=words              variadic a    printed as several arguments
    results a b | none | number | a:number                        varying       their number is not fixed
    effects random    writes input      view  cuts  creates       (what the schemas do not know)
    pure              no view, no effects, whatever the schemas say
    face infix        symbol +          title T           target path (when it is not the key)
                     calls a b     results of calling the module
    take a=tensors?   corrects the kind of what a call of the module takes       take none   anything
"""

import ast
import re
from dataclasses import replace

import msgspec

from gradstudio.operators.literals.grammar import read
from gradstudio.operators.model import Effect, Face, Family, Kind, Operator, Parameter, Result
from tools.catalogue import signatures, takes
from tools.catalogue.kinds import CHOICES, DROPPED, HINTS, OUTDATED, kind_of
from tools.catalogue.selection import Row
from tools.catalogue.signatures import Argument, Facts, Signature

_OWN = ("python.", "operator.", "builtins.")
"""Keys that are Python's, not torch's: their signatures are written by hand."""

GENERATED = "generated"
"""Where a row comes from that nobody wrote."""

_SCALER = "torch.amp.GradScaler"
"""Its device is that of what it scales, "cuda" where nothing is said: not the document's."""

_METHODS = (
    "torch.Tensor.",
    "torch.Generator.",
    "torch.optim.Optimizer.",
    "torch.nn.Module.",
    "torch.nn.Sequential.",
    "torch.nn.ModuleList.",
    "torch.UntypedStorage.",
    "torch.amp.GradScaler.",
    "builtins.int.",
    "builtins.dict.",
    "torch.autograd.graph.Node.",
    "torch.Size.",
    "torch.optim.lr_scheduler.LRScheduler.",
    "torch.optim.lr_scheduler.ReduceLROnPlateau.",
    "numpy.ndarray.",
    "numpy.random.Generator.",
    "builtins.str.",
    "builtins.list.",
)
_NUMBERS = ("_bool", "_int", "_float", "bool", "int", "float", "Number", "Number|_complex", "_int|SymInt")
_FAMILIES = {
    "torch.optim.lr_scheduler.": Family.OBJECT,
    "torch.optim.swa_utils.": Family.OBJECT,
    "torch.optim.": Family.OPTIMIZER,
    "torch.nn.": Family.MODULE,
}
"""What a constructor of a namespace gives; the first that fits."""


def build(row: Row, signature: Signature | None = None) -> Operator:
    """The row of the catalogue, of a signature that is given or that the row chooses.

    Raises:
        ValueError: the selection asks for what torch does not have; says where.
    """
    try:
        return _build(row, signature)
    except (ValueError, AttributeError, KeyError, StopIteration, SyntaxError) as error:
        raise ValueError(f"{row.where} {row.key}: {type(error).__name__}: {error}") from error


def _build(row: Row, given: Signature | None) -> Operator:
    by_hand = row.first("sig")
    signature = _by_hand(by_hand) if by_hand is not None else given or _choose(row)
    parameters = _parameters(row, signature) if by_hand is None else _hand_parameters(row, signature)
    facts = _facts(row, parameters)
    face = _face(row)
    operator = Operator(
        key=row.key,
        title=row.first("title") or _title(row),
        face=face,
        category=row.category,
        summary=row.summary,
        parameters=parameters,
        results=_results(row, signature),
        symbol=_symbol(row),
        varying=row.first("varying") is not None or _is_list(signature.returns),
        effects=_effects(row, facts),
        writes=tuple((row.first("writes") or "").split()) or facts.writes,
        view=row.first("view") is not None or facts.view,
        cuts=row.first("cuts") is not None,
        creates=row.first("creates") is not None or _creates(row, parameters, face),
        words=row.words,
        suggested=_suggested(row, parameters),
        target=row.first("target") or (row.target if row.target != row.key else ""),
        rare=row.first("rare") is not None,
    )
    calls = row.first("calls")
    calls_to = _result_list(calls) if calls is not None else operator.calls
    return msgspec.structs.replace(operator, calls=calls_to, takes=takes.of(row, operator))


def _symbol(row: Row) -> str:
    """The token; a word before its operand (``not``) has a blank behind it."""
    symbol = row.first("symbol") or ""
    return f"{symbol} " if symbol.isalpha() and row.first("face") == "prefix" else symbol


def _is_list(returns: str) -> bool:
    text = returns.replace(" ", "").replace("torch.Tensor", "Tensor")
    return bool(re.fullmatch(r"([Tt]uple|[Ll]ist|Sequence)\[Tensor(,\.\.\.)?\](\|list\[Tensor\])?", text)) and (
        text not in ("tuple[Tensor]", "Tuple[Tensor]")
    )


# Signatures ------------------------------------------------------------------------------------


def _by_hand(text: str) -> Signature:
    """A signature written as Python would write it, with kinds for annotations."""
    function = ast.parse(f"def f{text}: ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    return Signature(signatures._from_ast(function.args), "?", "hand")


def _choose(row: Row) -> Signature:
    wanted = set((row.first("with") or "").split())
    unwanted = set((row.first("without") or "").split())
    found = []
    for signature in signatures.signatures(row.target):
        names = {argument.name for argument in signature.arguments}
        if wanted <= names and not unwanted & names and not outdated(row, signature):
            found.append(signature)
    if not found:
        raise ValueError(f"no signature with {sorted(wanted)} without {sorted(unwanted)}")
    variadic = [s for s in found if any(a.variadic and a.name != "args" for a in s.arguments)]
    return variadic[0] if variadic and variadic[0].source == "stub" else found[0]


def outdated(row: Row, signature: Signature) -> bool:
    """Whether it is one of the deprecated spellings, dimension names, or the forms that only write into `out`."""
    method = row.target.startswith("torch.Tensor.")
    for argument in signature.arguments:
        if argument.name == "self" and not method and signature.source == "stub" and "Tensor" in argument.type:
            return True
        if argument.name == "names" and argument.default is None:
            return True
        if argument.name == "out" and argument.default is None and "None" not in argument.type:
            return True
        if argument.name == "dim" and re.search(r"\bstr\b", argument.type):
            return True
    return False


def _hand_parameters(row: Row, signature: Signature) -> tuple[Parameter, ...]:
    return tuple(_finish(row, _hand_parameter(argument)) for argument in signature.arguments)


def _hand_parameter(argument: Argument) -> Parameter:
    kind, _, rest = argument.type.partition(" |")
    return Parameter(
        argument.name,
        Kind(kind or "any"),
        default=argument.default,
        keyword_only=argument.keyword_only,
        positional_only=argument.positional_only,
        variadic=argument.variadic,
        nullable="None" in rest or argument.default == "None",
    )


def _parameters(row: Row, signature: Signature) -> tuple[Parameter, ...]:
    dropped = (DROPPED | set(" ".join(row.all("drop")).split())) - set(" ".join(row.all("keep")).split())
    found: list[Parameter] = []
    gap = False
    for argument in _with_receiver(row, signature):
        if argument.name in dropped or (argument.name in OUTDATED and "str" not in argument.type):
            gap = gap or not argument.keyword_only
            continue
        parameter = _parameter(argument, method=_is_method(row))
        if gap and not argument.variadic:
            parameter = msgspec.structs.replace(parameter, keyword_only=True)
        found.append(_finish(row, parameter))
    return tuple(found)


def _with_receiver(row: Row, signature: Signature) -> tuple[Argument, ...]:
    arguments = signature.arguments
    if not _is_method(row):
        return arguments
    first = arguments[0] if arguments else None
    kind = "Tensor" if row.target.startswith("torch.Tensor.") else ""
    if first is not None and first.name in ("self", "input") and signature.source != "hand":
        return (replace(first, name="self", type=kind or first.type), *arguments[1:])
    return (Argument("self", kind), *arguments)


def _parameter(argument: Argument, *, method: bool) -> Parameter:
    kind, nullable = kind_of(argument.name, argument.type)
    if argument.variadic and kind is Kind.INT:
        kind = Kind.SHAPE
    if argument.variadic and kind is Kind.TENSOR:
        kind = Kind.TENSORS
    default = _default(argument, kind)
    if kind is Kind.GENERATOR and nullable:
        default = "None"
    return Parameter(
        "input" if argument.name == "self" and not method else argument.name,
        kind,
        default=default,
        keyword_only=argument.keyword_only,
        positional_only=argument.positional_only,
        variadic=argument.variadic,
        nullable=nullable or default == "None",
        choices=tuple(normal(text) for text in _listed(argument.type)),
    )


def _listed(annotation: str) -> list[str]:
    """The values that a `Literal[...]` lists."""
    match = re.search(r"Literal\[([^\]]*)\]", annotation)
    return [text.strip() for text in match.group(1).split(",")] if match else []


def _default(argument: Argument, kind: Kind) -> str | None:
    text = argument.default
    if text == "...":
        raise ValueError(f"the stub does not tell the default of '{argument.name}'")
    if text is None or text in ("inf", "-inf"):
        return None if text is None else f"float('{text}')"
    if kind in (Kind.LAYOUT, Kind.MEMORY_FORMAT) and text != "None" and not text.startswith("torch."):
        return f"torch.{text}"
    return text


def _finish(row: Row, parameter: Parameter) -> Parameter:
    """The parameter with the corrections, choices and hints of its row."""
    name = parameter.name
    parameter = _with_kind(parameter, _named(row, "kind", name))
    default = _named(row, "default", name) or parameter.default
    if name in " ".join(row.all("required")).split():
        default = None
    choices = _named(row, "choices", name)
    offered = CHOICES.get(name, ()) if parameter.kind is Kind.TEXT else ()
    return msgspec.structs.replace(
        parameter,
        default=None if default is None else normal(default),
        nullable=parameter.nullable or default == "None",
        variadic=parameter.variadic or name in " ".join(row.all("variadic")).split(),
        choices=tuple(normal(t.strip()) for t in (choices.split(",") if choices else offered)) or parameter.choices,
        hint=_named(row, "hint", name) or HINTS.get(name, ""),
    )


def _with_kind(parameter: Parameter, text: str | None) -> Parameter:
    if text is None:
        return parameter
    nullable = text.endswith("?") or parameter.nullable
    return msgspec.structs.replace(parameter, kind=Kind(text.rstrip("?")), nullable=nullable)


def normal(text: str) -> str:
    """The text as `literals` writes it: `'mean'` becomes `"mean"`."""
    return read(text, slices=True).text


def _named(row: Row, verb: str, name: str) -> str | None:
    for rest in row.all(verb):
        left, equals, right = rest.partition("=")
        if equals and left.strip() == name:
            return right.strip()
    return None


# Everything else -------------------------------------------------------------------------------


def _is_method(row: Row) -> bool:
    return _face(row) in (Face.METHOD, Face.ATTRIBUTE)


def _face(row: Row) -> Face:
    if (text := row.first("face")) is not None:
        return Face(text)
    parts = row.target.split(".")
    if row.target.startswith(_METHODS):
        return Face.METHOD
    return Face.CONSTRUCTOR if parts[-1][0].isupper() else Face.FUNCTION


def _title(row: Row) -> str:
    word = row.target.rsplit(".", 1)[-1]
    return word if row.key == row.target else f"{word} ({row.key.partition(':')[2].replace('_', ' ')})"


def _facts(row: Row, parameters: tuple[Parameter, ...]) -> Facts:
    plain = row.first("pure") is not None or row.target.startswith(_OWN) or _face(row) is Face.CONSTRUCTOR
    if plain or not row.target.startswith("torch.") or row.target.startswith(("torch.optim", "torch.nn.Module")):
        return Facts()
    names = frozenset("self" if p.name == "input" else p.name for p in parameters)
    facts = signatures.facts(row.target, names)
    rename = {"self": parameters[0].name} if parameters else {}
    return replace(facts, writes=tuple(rename.get(name, name) for name in facts.writes))


def _effects(row: Row, facts: Facts) -> tuple[Effect, ...]:
    found = [Effect(name) for rest in row.all("effects") for name in rest.split()]
    if facts.writes or row.first("writes"):
        found.append(Effect.IN_PLACE)
    if facts.random:
        found.append(Effect.RANDOM)
    return tuple(dict.fromkeys(found))


def _creates(row: Row, parameters: tuple[Parameter, ...], face: Face) -> bool:
    names = {parameter.name for parameter in parameters}
    tensors = any(parameter.kind in (Kind.TENSOR, Kind.TENSORS) for parameter in parameters)
    return "device" in names and not tensors and row.target != _SCALER and face in (Face.FUNCTION, Face.CONSTRUCTOR)


def _results(row: Row, signature: Signature) -> tuple[Result, ...]:
    if (text := row.first("results")) is not None:
        return _result_list(text)
    if _face(row) is Face.CONSTRUCTOR:
        family = next((f for head, f in _FAMILIES.items() if row.target.startswith(head)), Family.OBJECT)
        return (Result("out", family),)
    returns = signature.returns.replace(" ", "").replace("torch.Tensor", "Tensor")
    if returns.startswith("fields:"):
        return tuple(Result(name) for name in returns[7:].split(","))
    if returns.startswith("torch.return_types."):
        named = getattr(signatures.resolve("torch.return_types"), returns.rsplit(".", 1)[1])
        return tuple(Result(name) for name in named.__match_args__)
    if re.fullmatch(r"(tuple|Tuple)\[Tensor(,Tensor)+\]", returns):
        return tuple(Result(f"out_{k}") for k in range(returns.count("Tensor")))
    if returns in _NUMBERS:
        return (Result("out", Family.NUMBER),)
    if returns in ("None", "_dtype", "dtype", "str"):
        return () if returns == "None" else (Result("out", Family.TEXT),)
    return (Result("out", Family.TUPLE),) if returns in ("_size", "Size", "torch.Size") else (Result(),)


def _result_list(text: str) -> tuple[Result, ...]:
    if text == "none":
        return ()
    if text in set(Family):
        return (Result("out", Family(text)),)
    found = []
    for part in text.split():
        name, _, family = part.partition(":")
        found.append(Result(name, Family(family or "tensor")))
    return tuple(found)


def _suggested(row: Row, parameters: tuple[Parameter, ...]) -> dict[str, str]:
    found = {}
    for rest in row.all("suggest"):
        name, _, text = rest.partition("=")
        path = name.strip()
        if path.partition(".")[0] not in {parameter.name for parameter in parameters}:
            if row.where == GENERATED:
                continue  # a correction for several paths
            raise ValueError(f"suggests a value for '{path}', which is no argument")
        bare = next(p for p in parameters if p.name == path.partition(".")[0]).kind is Kind.NAME
        found[path] = text.strip() if bare else normal(text.strip())
    return found
