"""The names that a Python text binds in its module, by Python's own table of symbols; nothing is executed."""

import builtins
import symtable
from collections.abc import Iterator


def module_names(text: str) -> frozenset[str]:
    """Variables, functions, classes and imports of a text, as Python would find them in its module at the end.

    What comprehensions and functions bind for themselves is none of them; what a function declares global is. None of
    a text that Python refuses, of which it runs nothing.
    """
    try:
        table = symtable.symtable(text.removeprefix("\ufeff"), "text", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    found = {one.get_name() for one in table.get_symbols() if _is_bound(one)}
    for inner in _inside(table):
        found |= {one.get_name() for one in inner.get_symbols() if one.is_declared_global() and _is_bound(one)}
    return frozenset(found)


def unbound_names(text: str) -> tuple[str, ...]:
    """The names that a text reads in its module and binds nowhere, in the order of the alphabet."""
    bound = module_names(text) | set(dir(builtins)) | {"__file__"}
    try:
        table = symtable.symtable(text.removeprefix("\ufeff"), "text", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    read = {one.get_name() for one in table.get_symbols() if one.is_referenced()}
    for inner in _inside(table):
        read |= {one.get_name() for one in inner.get_symbols() if one.is_global() and one.is_referenced()}
    return tuple(sorted(read - bound))


def _inside(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """The tables of what is defined in one, however deep."""
    waiting = list(table.get_children())
    while waiting:
        inner = waiting.pop()
        waiting += inner.get_children()
        yield inner


def _is_bound(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
