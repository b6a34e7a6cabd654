"""The parts of the printer, each without the others: operands, values, arguments, expressions."""

from gradstudio.graph.analysis.program_analysis import analyse
from gradstudio.graph.model import ItemId, Node
from gradstudio.graph.text.literal_text import POWER, PRIMARY, SUM
from gradstudio.operators.model import Kind, Operator
from gradstudio.program.printing.argument_printer import ArgumentPrinter
from gradstudio.program.printing.expression_printer import ExpressionPrinter
from gradstudio.program.printing.logical_line import Line
from gradstudio.program.printing.name_references import References
from gradstudio.program.printing.operand_precedence import Operands
from gradstudio.program.printing.value_printer import ValuePrinter
from tests.program.sketch import Sketch


def refuse(line: Line, node: Node, operator: Operator) -> None:
    raise AssertionError(f"{node.id} is no part that is printed in place")


def values(references: References, imports: set[str], *, traced: bool = False) -> ValuePrinter:
    script_values = (lambda: values(references, imports)) if traced else None
    return ValuePrinter(references, Operands(references, traced=traced), imports, refuse, script_values=script_values)


def sum_in_a_power() -> tuple[Sketch, ItemId, ItemId]:
    sketch = Sketch()
    x = sketch.tensor("x")
    total = sketch.node("operator.add", wires={"a": x, "b": x}, part=True)
    power = sketch.node("operator.pow", "y", {"a": total}, literals={"b": "2"})
    return sketch, total, power


def test_an_operand_in_place_binds_as_its_operator_does_and_a_traced_one_as_a_name() -> None:
    sketch, _, power = sum_in_a_power()
    references = References(analyse(sketch.graph))
    node, operator = sketch.graph.nodes[power], references.validity.operators[power]
    script, traced = Operands(references, traced=False), Operands(references, traced=True)
    assert script.precedence(node, operator) == POWER
    assert (script.port_precedence(node, "a"), traced.port_precedence(node, "a")) == (SUM, PRIMARY)
    assert (script.is_simple(power, "a", in_power=True), traced.is_simple(power, "a", in_power=True)) == (False, True)


def test_a_value_is_a_name_or_a_literal_and_what_that_needs_is_collected() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    y = sketch.node("operator.mul", "y", {"a": x}, literals={"b": "math.pi"})
    imports: set[str] = set()
    printer = values(References(analyse(sketch.graph)), imports)
    line = Line()
    node = sketch.graph.nodes[y]
    printer.value(line, node, "a", Kind.ANY)
    line.write(" ")
    printer.value(line, node, "b", Kind.ANY)
    assert (line.text, imports) == ("x math.pi", {"math"})


def test_a_part_is_its_address_where_a_run_is_traced() -> None:
    sketch, total, power = sum_in_a_power()
    references = References(analyse(sketch.graph))
    line = Line()
    values(references, set(), traced=True).source(line, power, "a", POWER)
    assert line.text == references.addresses[total]


def test_arguments_stand_in_the_parentheses_of_their_call() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    total = sketch.node("torch.sum", "y", {"input": x}, literals={"dim": "0", "keepdim": "True"})
    references = References(analyse(sketch.graph))
    imports: set[str] = set()
    printer = ArgumentPrinter(references, values(references, imports), imports, device=False, traced=False)
    line = Line()
    printer.call(line, sketch.graph.nodes[total], references.validity.arguments[total])
    assert line.text == "(x, dim=0, keepdim=True)"


def test_an_expression_marks_where_its_parts_stand() -> None:
    sketch, total, power = sum_in_a_power()
    references = References(analyse(sketch.graph))
    line = Line()
    printer = ExpressionPrinter(references, device=False, stem="program")
    printer.write(line, sketch.graph.nodes[power], references.validity.operators[power])
    assert line.text == "(x + x) ** 2"
    assert line.marks == [(total, 1, 6)]
