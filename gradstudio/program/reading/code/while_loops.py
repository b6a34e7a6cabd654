"""`while` of a text as the loop that a canvas has: an endless one, whose condition is code ahead of its body.

Python asks for the condition before each turn, also behind `continue`, and so does that code.
"""

import ast
from collections.abc import Sequence

from gradstudio.graph.text.while_heads import code_of_condition
from gradstudio.program.reading.code.code_statement import CodeStatement


class EndlessLoop(ast.For):
    """A loop that goes over nothing and binds nothing at its head.

    Attributes:
        typed: its statements in the text, without the condition.
    """

    typed: Sequence[ast.stmt] = ()


def endless_loop(statement: ast.While, lines: Sequence[str]) -> EndlessLoop:
    """The loop that a statement is; `lines` are those of the text.

    Raises:
        SyntaxError: its condition cannot stand alone.
    """
    test = statement.test
    nothing = ast.copy_location(ast.Tuple([], ast.Store()), statement)
    always = ast.copy_location(ast.Constant(True), test)
    ends = [] if isinstance(test, ast.Constant) and test.value else [_condition(statement, lines)]
    loop = ast.copy_location(EndlessLoop(nothing, always, [*ends, *statement.body], []), statement)
    loop.typed = statement.body
    return loop


def _condition(statement: ast.While, lines: Sequence[str]) -> CodeStatement:
    test = statement.test
    text = ast.unparse(test)
    if test.lineno == test.end_lineno:
        text = lines[test.lineno - 1].encode()[test.col_offset : test.end_col_offset].decode()
    code = code_of_condition(text)
    made = CodeStatement(ast.parse(code).body, code.split("\n"))
    ast.copy_location(made, statement)
    made.end_lineno, made.end_col_offset = test.end_lineno, test.end_col_offset
    return made.again()
