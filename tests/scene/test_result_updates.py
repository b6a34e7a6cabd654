"""Cards follow results: measured when they are seen, placed anew when one is higher, not lower while looking back."""

from gradstudio.protocol.messages.inference import LeafInference, PortInference
from gradstudio.scene.geometry import Box
from gradstudio.scene.items import PortRef
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.result_updates import AT_ONCE
from tests.helpers.drawing import Drawing, leaf_ports, matrix, scalar


def test_a_card_has_room_for_what_came_and_all_is_placed_anew(drawing: Drawing) -> None:
    item = drawing.add("torch.randn")
    before, revision = drawing.box(item), drawing.scene.state.geometry_revision
    drawing.results.records[item] = (matrix(),)
    drawing.scene.results_changed((item,))
    assert drawing.box(item).height > before.height
    assert drawing.scene.state.geometry_revision > revision
    assert not drawing.scene.updates.is_behind
    well = drawing.scene.updates.well(item)
    assert well.sections
    assert well.height == drawing.scene.stack.cards[item].drawn <= drawing.scene.stack.cards[item].result_height
    assert drawing.scene.updates.well(item) is well, "kept until something changes"


def test_what_changed_is_told_by_the_revision_at_which_it_did(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.relu")
    scene = drawing.scene
    card = scene.stack.cards[x]
    before = card.revision
    scene.results_changed((x,))
    assert scene.updates.changed_at == {x: scene.state.revision}
    assert scene.stack.read(x) is card
    assert card.revision > before
    before = card.revision
    scene.stack.read(x)
    assert card.revision == before, "it was read"
    scene.results_changed()
    assert scene.updates.all_changed_at == scene.state.revision
    assert y not in scene.updates.changed_at


def test_of_many_cards_only_those_in_view_are_measured_until_there_is_time(drawing: Drawing) -> None:
    items = [drawing.add("torch.randn", 0.0, 400.0 * k) for k in range(AT_ONCE + 2)]
    first, last = items[0], items[-1]
    before = drawing.box(first).height
    drawing.results.records = dict.fromkeys(items, (matrix(),))
    updates = drawing.scene.updates
    drawing.scene.results_changed()
    assert updates.is_behind
    assert drawing.box(first).height == before
    assert updates.catch_up(Box(-50, -50, 300, 300))
    assert drawing.box(first).height > before == drawing.box(last).height
    assert updates.well(last).sections
    assert drawing.box(last).height > before, "it was asked for"
    assert updates.catch_up()
    assert not updates.is_behind
    assert not updates.catch_up()


def test_while_looking_back_cards_do_not_shrink_and_now_they_do(drawing: Drawing) -> None:
    item = drawing.add("torch.randn")
    drawing.results.records[item] = (scalar(),)
    drawing.scene.results_changed((item,))
    small = drawing.box(item).height
    drawing.results.moment, drawing.results.records[item] = 3, (matrix(),)
    drawing.scene.results_changed()
    drawing.scene.updates.catch_up()
    large = drawing.box(item).height
    assert large > small
    drawing.results.moment, drawing.results.records[item] = 2, (scalar(),)
    drawing.scene.results_changed()
    drawing.scene.updates.catch_up()
    assert drawing.box(item).height == large
    drawing.results.moment = None
    drawing.scene.results_changed()
    assert drawing.box(item).height == small


def test_the_row_of_a_node_is_asked_for_once_a_moment(drawing: Drawing) -> None:
    item = drawing.add("torch.randn")
    drawing.results.records[item] = (scalar(),)
    drawing.scene.results_changed((item,))
    drawing.results.asked_rows.clear()
    row = drawing.scene.updates.row(item)
    assert row is not None
    assert drawing.scene.updates.row(item) is row
    assert drawing.scene.updates.rows([item, item]) == [row, row]
    assert drawing.results.asked_rows == [item]
    drawing.scene.results_changed((item,))
    drawing.scene.updates.row(item)
    assert drawing.results.asked_rows == [item] * 3, "measured anew, and read anew"


def test_other_overlays_take_other_room(drawing: Drawing) -> None:
    item = drawing.add("torch.randn")
    drawing.results.records[item] = (matrix(),)
    drawing.scene.results_changed((item,))
    before = drawing.box(item).height
    drawing.scene.show(Shown(values=False))
    assert drawing.box(item).height < before
    drawing.scene.show(Shown())
    assert drawing.box(item).height == before


def test_what_grew_while_looking_back_is_measured_when_anything_changes_now(drawing: Drawing) -> None:
    item, other = drawing.add("torch.randn"), drawing.add("torch.randn", 400, 0)
    drawing.results.records[item] = (scalar(),)
    drawing.scene.results_changed((item,))
    small = drawing.box(item).height
    drawing.results.moment, drawing.results.records[item] = 3, (matrix(),)
    drawing.scene.results_changed()
    drawing.scene.updates.catch_up()
    assert drawing.box(item).height > small
    drawing.results.moment, drawing.results.records[item] = None, (scalar(),)
    drawing.scene.results_changed((other,))
    assert drawing.box(item).height == small


def test_leaves_of_a_module_have_ports_and_only_other_ones_move_anything(drawing: Drawing) -> None:
    layer = drawing.add("torch.nn.LSTM")
    call = drawing.scene.state.card_groups.home(layer)
    module = drawing.scene.stack.cards[call].layout.module
    assert module is not None
    paths = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    leaves = tuple(LeafInference(path, (16, 4), "float32", True) for path in paths)
    drawing.results.expected[module] = PortInference(node=module, leaves=leaves)
    drawing.scene.results_changed((module,))
    scene = drawing.scene
    assert leaf_ports(scene) == set(paths[:2])
    revision = scene.state.geometry_revision
    scene.results_changed((module,))
    assert scene.state.geometry_revision == revision
    scene.unfold(module)
    assert [row.path for row in scene.updates.well(call).leaves.rows] == list(paths)
    assert leaf_ports(scene) == set(paths)
    leaf = PortRef(module, "output", paths[0])
    assert scene.ports.nearest(*scene.placement.anchor(leaf), 2) == leaf


def test_the_rows_of_another_graph_are_asked_for_anew(drawing: Drawing) -> None:
    item = drawing.add("torch.randn")
    assert drawing.scene.updates.row(item) is None
    drawing.results.records[item] = (scalar(),)
    drawing.scene.rebuild()
    assert drawing.scene.updates.row(item) is not None
