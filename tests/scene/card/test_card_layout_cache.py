"""Faces that are cast from earlier ones are what they would be if they were made anew."""

from pathlib import Path

import msgspec
import pytest

from gradstudio.document.file import load
from gradstudio.graph import recipes
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import ReplaceNode, apply_all
from gradstudio.graph.model import Graph, ItemId
from gradstudio.scene.card.card_layout import card_layout
from gradstudio.scene.card.card_layout_cache import CardLayoutCache

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.gsg"))


def measure(text: str, role: str) -> float:
    return 7.0 * len(text)


def check_all(cache: CardLayoutCache, graph: Graph) -> None:
    modules = card_groups(graph).modules
    for item in graph.nodes:
        for expanded in (False, True):
            module = modules.get(item)
            assert cache.layout(graph, item, expanded, module) == card_layout(graph, item, measure, expanded, module)


@pytest.mark.parametrize("name", [path.name for path in EXAMPLES])
def test_the_cards_of_an_example_are_the_same(name: str) -> None:
    cache, graph = CardLayoutCache(measure), load(EXAMPLES[0].parent / name)
    check_all(cache, graph)
    check_all(cache, graph)  # every one is made from another now


def drawn(key: str, names: tuple[str, ...], **literals: str) -> tuple[Graph, ItemId]:
    graph = Graph()
    edits, item = recipes.add_operator(graph, key, 0, 0)
    apply_all(graph, edits)
    node = graph.nodes[item]
    apply_all(graph, (ReplaceNode(msgspec.structs.replace(node, names=names, literals={**node.literals, **literals})),))
    return graph, item


def test_everything_that_a_card_says_of_its_node_tells_it_from_others() -> None:
    cache = CardLayoutCache(measure)
    for key, names, literals in (
        ("torch.randn", ("x",), {"size": "(2, 3)"}),
        ("torch.randn", ("another_name",), {"size": "(2, 3)"}),
        ("torch.randn", ("x",), {"size": "(4, 5)"}),
        ("torch.randn", (), {"size": "(2, 3)"}),
        ("torch.randn", ("_",), {"size": "(2, 3)"}),
        ("torch.randn", ("x",), {"size": "(2, 3)", "requires_grad": "True"}),
        ("torch.topk", ("values", "indices"), {"k": "2"}),
        ("torch.topk", ("top", "where"), {"k": "2"}),
        ("torch.topk", ("both",), {"k": "2"}),
        ("torch.topk", ("_", "where"), {"k": "2"}),
        ("torch.chunk", ("parts",), {"chunks": "2"}),
        ("python.literal", ("n",), {"value": "2"}),
        ("python.literal", ("t",), {"value": "'2'"}),
    ):
        graph, item = drawn(key, names, **literals)
        assert cache.layout(graph, item, False, None) == card_layout(graph, item, measure), (key, names)


def test_the_device_of_the_document_and_what_is_muted_are_told_apart() -> None:
    cache = CardLayoutCache(measure)
    graph, item = drawn("torch.randn", ("x",), device="device")
    for device in ("cpu", "cuda:0"):
        graph.header = msgspec.structs.replace(graph.header, device=device)
        assert cache.layout(graph, item, True, None) == card_layout(graph, item, measure, expanded=True)
    for field in ("muted", "bypassed"):
        apply_all(graph, (ReplaceNode(msgspec.structs.replace(graph.nodes[item], **{field: True})),))
        assert cache.layout(graph, item, True, None) == card_layout(graph, item, measure, expanded=True)
