"""The names that a Python text binds in its module, by Python's own table of symbols; nothing is executed."""

import symtable


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
    waiting = list(table.get_children())
    while waiting:
        inner = waiting.pop()
        waiting += inner.get_children()
        found |= {one.get_name() for one in inner.get_symbols() if one.is_declared_global() and _is_bound(one)}
    return frozenset(found)


def _is_bound(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
