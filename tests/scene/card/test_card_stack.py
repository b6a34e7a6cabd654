"""Cards follow the graph: one a node or one for a module and its call, made anew only when they look different."""

from gradstudio.graph import recipes
from gradstudio.graph.edits import SetPlaces, apply_all
from gradstudio.graph.model import Graph, Place
from gradstudio.scene.card.card_maker import CardMaker
from gradstudio.scene.card.card_stack import CardStack
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.placement import Placement
from gradstudio.scene.results import NoResults
from gradstudio.scene.scene_state import SceneState
from tests.helpers.drawing import Drawing, EvenMeasure


def test_a_stack_alone_has_a_card_for_every_node_of_the_graph_in_program_order() -> None:
    graph = Graph()
    for key in ("torch.randn", "torch.relu", "torch.sum"):
        apply_all(graph, recipes.add_operator(graph, key, 0, 0)[0])
    state = SceneState(graph, NoResults(), Shown(), EvenMeasure())
    stack = CardStack(state, CardMaker(state))
    stack.follow()
    assert stack.ids == list(stack.cards) == list(graph.order())
    assert [stack.index[item] for item in stack.ids] == [0, 1, 2]
    kept = dict(stack.cards)
    apply_all(graph, recipes.delete(graph, stack.ids[1:2]))
    stack.follow()
    assert len(stack.cards) == 2
    assert all(card is kept[item] for item, card in stack.cards.items())


def test_a_module_and_its_call_share_a_card(drawing: Drawing) -> None:
    module = drawing.add("torch.nn.Linear")
    (call,) = set(drawing.graph.nodes) - {module}
    if module in drawing.scene.stack.cards:
        module, call = call, module
    stack = drawing.scene.stack
    assert stack.ids == [call]
    assert stack.index[module] == stack.index[call] == 0
    drawing.do(recipes.call_again(drawing.graph, module)[0])
    assert len(stack.ids) == 3, "two calls are cards of their own, and so is the module"


def test_a_card_is_made_again_when_its_node_changes_and_says_so_by_its_revision(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    cards = drawing.scene.stack.cards
    before = {item: cards[item].revision for item in (x, y)}
    drawing.do(recipes.rename(drawing.graph, y, ("activated",)))
    assert cards[y].layout.names == "activated"
    assert cards[y].revision > before[y]
    assert cards[x].revision == before[x]


def test_expanding_shows_the_optional_inputs_and_folds_them_again(drawing: Drawing) -> None:
    item = drawing.add("torch.nn.functional.mse_loss")
    folded = drawing.scene.stack.cards[item].layout
    drawing.scene.expand(item)
    whole = drawing.scene.stack.cards[item].layout
    assert len(whole.inputs) > len(folded.inputs)
    assert drawing.box(item).height == drawing.scene.stack.cards[item].drawn_height > folded.height
    drawing.scene.expand(item)
    assert drawing.scene.stack.cards[item].layout == folded


def test_a_collapsed_card_is_only_its_header(drawing: Drawing) -> None:
    item = drawing.add("torch.nn.functional.mse_loss")
    whole = drawing.box(item)
    drawing.do((SetPlaces({item: Place(0, 0, collapsed=True)}),))
    assert drawing.box(item).height < whole.height
    drawing.do((SetPlaces({item: Place(0, 0)}),))
    assert drawing.box(item) == whole


def test_the_mode_of_a_module_is_on_its_card_when_a_statement_switches_what_holds_it(drawing: Drawing) -> None:
    layer = drawing.add("torch.nn.Dropout")
    home = drawing.scene.state.card_groups.home(layer)
    module = drawing.scene.stack.cards[home].layout.module
    assert module is not None
    assert drawing.scene.stack.cards[home].layout.mode == "train"
    drawing.do(recipes.set_training(drawing.graph, (module,), False))
    assert drawing.scene.stack.cards[home].layout.mode == "eval"


def test_the_leaves_of_a_module_are_listed_only_where_it_is_shown(drawing: Drawing) -> None:
    item = drawing.add("torch.relu")
    assert drawing.scene.stack.leaves(item).rows == ()


def test_cards_that_were_raised_stay_on_top_of_those_that_come_and_go(drawing: Drawing) -> None:
    items = drawing.chain("torch.randn", "torch.relu", "torch.abs", "torch.exp")
    stack = drawing.scene.stack
    stack.put_on_top(items[1:2])
    late = drawing.add("torch.randn")
    assert stack.ids == list(stack.cards) == [items[0], items[2], items[3], late, items[1]]
    drawing.do(recipes.delete(drawing.graph, items[2:3]))
    assert stack.ids == list(stack.cards) == [items[0], items[3], late, items[1]]
    assert [stack.index[item] for item in stack.ids] == [0, 1, 2, 3]
    drawing.do(recipes.delete(drawing.graph, items[1:2]))
    again = drawing.add("torch.randn")
    assert stack.ids == list(stack.cards) == [items[0], items[3], late, again]
    fresh = Placement(drawing.scene.state, stack)
    fresh.place()
    assert drawing.scene.placement.corners == fresh.corners
