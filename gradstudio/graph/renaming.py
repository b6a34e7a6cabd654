"""What a part of a program is called where it is put anew: ids, names, and the ports that are called after names."""

import msgspec

from gradstudio.graph import names as naming
from gradstudio.graph.model import Block, Graph, ItemId, Node, Wire
from gradstudio.graph.text.name_bindings import Binding, binding_of


def new_names(part: Graph, taken: set[str], of_nodes: set[str]) -> dict[Binding, str]:
    """What the results of a fragment are called among names that are taken.

    What a loop carries has one name before it, in it and at the end of its turns. A loop's variable stays, unless a
    node of the program has its name.
    """
    same = loop_aliases(part)
    found: dict[Binding, str] = {}
    for item in part.order():
        names: tuple[str, ...] = ()
        block = part.blocks.get(item)
        if item in part.nodes:
            names = part.nodes[item].names
        elif block is not None:
            names = ("_", *block.carried)  # what it carries counts from 1: 0 is its variable
            if block.variable in of_nodes:
                found[item, 0] = naming.fresh_name(taken, block.variable)
        for k, name in enumerate(names):
            first = same.get((item, k), (item, k))
            if name != "_" and first not in found:
                found[first] = naming.fresh_name(taken, name)
            if name != "_":
                found[item, k] = found[first]
    return found


def loop_aliases(part: Graph) -> dict[Binding, Binding]:
    """For results that a loop carries, and what gives it them, one of those that stands for all."""
    same: dict[Binding, Binding] = {}

    def chief(one: Binding) -> Binding:
        while one in same:
            one = same[one]
        return one

    for block in part.blocks.values():
        for k, name in enumerate(block.carried, 1):
            for end in ("first", "next"):
                wire = part.wires.get((block.id, f"{end}.{name}"))
                one = chief(binding_of(part, wire.source, wire.output)) if wire is not None else (block.id, k)
                if one != (other := chief((block.id, k))):
                    same[one] = other
    return {one: chief(one) for one in same}


def renamed_port(part: Graph, wire: Wire, names: dict[Binding, str]) -> str:
    """The port under which a wire ends at what was pasted."""
    end, _, name = wire.port.partition(".")
    block = part.blocks.get(wire.target)
    if block is None or end not in ("first", "next") or name not in block.carried:
        return wire.port
    return f"{end}.{names.get((block.id, block.carried.index(name) + 1), name)}"


def renamed_node(node: Node, item: ItemId, names: dict[Binding, str]) -> Node:
    """The node under its new id, and under its new names."""
    bound = tuple(names.get((node.id, k), name) for k, name in enumerate(node.names))
    return msgspec.structs.replace(node, id=item, names=bound, marks=tuple(m for m in node.marks if m != "root"))


def renamed_block(block: Block, item: ItemId, names: dict[Binding, str]) -> Block:
    """The block under its new id, and with new names of its variable and of what it carries."""
    carried = tuple(names.get((block.id, k), name) for k, name in enumerate(block.carried, 1))
    return msgspec.structs.replace(block, id=item, carried=carried, variable=names.get((block.id, 0), block.variable))
