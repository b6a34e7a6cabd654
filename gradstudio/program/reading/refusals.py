"""What a canvas does not draw, in words: why, and what to write instead."""

import ast

from gradstudio.graph.text.literal_text import MAX_DIGITS

SHOWN = 60
"""How many characters of a text are repeated in a reason."""
_STATEMENTS: dict[type[ast.stmt], str] = {
    ast.FunctionDef: "a function stands outside of all blocks and other functions: define it at the top",
    ast.AsyncFunctionDef: "an async function is nothing that a canvas draws",
    ast.ClassDef: "a class stands outside of all blocks and functions: define it at the top",
    ast.While: "`while` runs for nobody knows how long: write `for step in range(n)` with as many turns as it needs",
    ast.AsyncFor: "`async` is nothing that a canvas draws",
    ast.AsyncWith: "`async` is nothing that a canvas draws",
    ast.Try: "`try` chooses while it runs: write the statements that are meant to run",
    ast.Raise: "`raise` ends a program, which a canvas does not draw: take it out",
    ast.Delete: "`del` unbinds a name, which a canvas does not draw: take it out, or choose another name from here on",
    ast.Global: "`global` reaches out of a function: pass the value in and return it",
    ast.Nonlocal: "`nonlocal` reaches out of a function: pass the value in and return it",
    ast.Return: "`return` stands last in a function, outside of its blocks",
    ast.Break: "`break` ends a loop early, which a canvas does not draw: give the loop as many turns as it needs",
    ast.Continue: "`continue` skips a turn, which a canvas does not draw: multiply by a mask, or use torch.where",
    ast.Match: "`match` chooses while it runs: write the statements that are meant to run",
}
_EXPRESSIONS: dict[type[ast.expr], str] = {
    ast.Lambda: "a lambda is a function of its own, which a canvas does not draw: write its expression out",
    ast.DictComp: "a comprehension runs Python of its own: bind the values to names",
    ast.NamedExpr: "`:=` binds a name inside an expression: bind it on a line of its own",
    ast.Set: "a set is nothing that a canvas draws: write a list",
    ast.Starred: "`*` unpacks while it runs: name the elements",
    ast.Await: "`await` is nothing that a canvas draws",
    ast.Yield: "`yield` gives values while a function runs: put them in a list and return that",
    ast.YieldFrom: "`yield` gives values while a function runs: put them in a list and return that",
}
_CALLS = {
    "open": "a canvas reads and writes no files: write the data as a tensor, or store it in the document",
    "input": "a canvas asks nobody while it runs: bind the value to a name",
    "eval": "a canvas runs no text as Python: write the expression itself",
    "exec": "a canvas runs no text as Python: write the statements themselves",
    "compile": "a canvas runs no text as Python: write the statements themselves",
    "__import__": "a canvas knows torch, numpy and math, and no other module",
    "getattr": "an attribute is read by its name: write `x.name`",
    "setattr": "an attribute is written by its name: write `x.name = value`",
    "hasattr": "what a value has is known from torch's documentation: write the statements that are meant to run",
    "globals": "names are read by themselves",
    "locals": "names are read by themselves",
    "vars": "attributes are read by their names: write `x.name`",
    "dir": "attributes are read by their names: write `x.name`",
    "exit": "a program ends where its text ends: take it out",
    "quit": "a program ends where its text ends: take it out",
    "super": "`super` belongs to classes, which a canvas does not draw yet",
    "map": "`map` calls a function that a canvas does not have: write a `for` block that appends to a list",
    "filter": "`filter` calls a function that a canvas does not have: index by a mask, as in x[x > 0]",
    "display": "a canvas shows every value: write the name alone, or print it",
    "dict": 'write the entries out: `{"name": value}`',
    "set": "a set is nothing that a canvas draws: write a list, or use torch.unique",
}
_PATHS = {
    "torch.hub": "a canvas reaches no network: import the module with File > Import module",
    "torch.jit": "a canvas is not compiled: take it out",
    "torch.compile": "a canvas is not compiled: take it out",
    "torch.set_default_tensor_type": "torch is giving it up: write `torch.set_default_dtype(torch.float64)`",
    "torch.utils.data": "a canvas has the whole data: index it, as in `X[k : k + n]`, in a `for` block",
    "torch.utils.tensorboard": "take its lines out: a canvas shows every value as a picture",
    "torch.testing": "take it out, or print torch.allclose(…)",
    "torch.onnx": "a canvas writes no files: export it",
    "torch.distributed": "a canvas runs in one process: export it as a training script",
    "torch.multiprocessing": "a canvas runs in one process: export it as a training script",
    "numpy.load": "a canvas loads no files: write the data as an array",
    "numpy.loadtxt": "a canvas loads no files: write the data as an array",
    "numpy.genfromtxt": "a canvas loads no files: write the data as an array",
    "numpy.save": "a canvas writes no files: save the document",
    "numpy.savez": "a canvas writes no files: save the document",
    "numpy.savetxt": "a canvas writes no files: save the document",
}
ONLY_PRINT = (
    "`if` may hold only print: a canvas does not choose while it runs. Move what computes out of the `if` "
    "(keep the branch that is meant to run); torch.where or a mask chooses element by element."
)
NO_ELSE = "`else` chooses while it runs: write a second `if` with the opposite condition, around print only."
ON_DEVICE = (
    '`if` may hold only print. Write `device = "cuda" if torch.cuda.is_available() else "cpu"` above, and '
    "`.to(device)` on what is moved."
)


def statement_words(statement: ast.stmt) -> str:
    """Why a statement cannot be read."""
    if getattr(statement, "decorator_list", None):
        return "a decorator runs Python of its own: write what it does where it is needed."
    return f"{_STATEMENTS.get(type(statement), 'this statement is nothing that a canvas draws')}."


def expression_words(node: ast.expr) -> str:
    """Why an expression cannot be read."""
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return _as_loop(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex):
        return f"a number is written with at most {MAX_DIGITS:,} digits."
    return f"{_EXPRESSIONS.get(type(node), f'`{source(node)}` is nothing that a canvas draws')}."


def source(node: ast.AST) -> str:
    """The text of a part of a program, short enough for a sentence."""
    try:
        text = " ".join(ast.unparse(node).split())
    except RecursionError:
        return "…"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _as_loop(node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> str:
    """The loop that does what a comprehension does."""
    what = "a generator" if isinstance(node, ast.GeneratorExp) else "a comprehension"
    first = node.generators[0]
    if len(node.generators) > 1 or first.ifs or first.is_async:
        return f"{what} runs Python of its own: write `for` blocks that append to a list."
    head = f"for {source(first.target)} in {source(first.iter)}:"
    return (
        f"{what} runs Python of its own: write `values = []` and below it `{head} values.append({source(node.elt)})`."
    )


def call_words(name: str) -> str:
    """What to write instead of calling a builtin, or a path of an imported package; "" when nothing is known."""
    if name in _CALLS:
        return f"'{name}(…)': {_CALLS[name]}."
    parts = name.split(".")
    known = (_PATHS.get(".".join(parts[:count])) for count in range(len(parts), 1, -1))
    found = next((words for words in known if words is not None), None)
    return f"'{name}': {found}." if found is not None else ""
