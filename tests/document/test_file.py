import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings

from gradstudio.document import atomic_write, file
from gradstudio.document.errors import BadTensor, CannotOpen, CannotSave
from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.graph.model import Graph, Header, ItemId, Node, Place
from tests.document.graphs import KNOWN, UNKNOWN, graphs, put, tables, wire

FIXTURES = Path(__file__).parent / "fixtures"


def small_graph() -> Graph:
    graph = Graph()
    put(graph, Node(id=ItemId("x"), operator=KNOWN, names=("x",), literals={"a": "1.5", "b": "2"}))
    put(graph, Node(id=ItemId("y"), operator=UNKNOWN, names=("y",), literals={"mode": "$$ kept as it is"}))
    wire(graph, "x", 0, "y", "input")
    graph.places["x"] = Place(10.0, 20.5)
    return graph


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_every_program_comes_back_equal_and_byte_for_byte(tmp_path_factory, graph):
    path = tmp_path_factory.mktemp("documents") / "p.gsg"
    file.save(graph, path, file.View(1.5, -3.0, 4.25))
    again, view = file._load(path)
    assert tables(again) == tables(graph)
    assert view == file.View(1.5, -3.0, 4.25)
    assert file.dumps(again, view).encode() == path.read_bytes()


def test_one_item_one_wire_and_one_place_a_line():
    assert file.dumps(small_graph()).splitlines() == [
        "{",
        '"format": "gradstudio-graph",',
        '"version": 1,',
        '"header": {"seed": 0, "device": "cpu"},',
        '"items": [',
        '  {"kind": "node", "id": "x", "operator": "operator.add", "names": ["x"], '
        '"literals": {"a": "1.5", "b": "2"}},',
        '  {"kind": "node", "id": "y", "operator": "torch.of_the_future", "names": ["y"], '
        '"literals": {"mode": "$$ kept as it is"}}',
        "],",
        '"wires": [',
        '  {"from": "x", "to": "y", "port": "input"}',
        "],",
        '"view": {',
        '"zoom": 1,',
        '"x": 0,',
        '"y": 0,',
        '"places": {',
        '  "x": {"x": 10, "y": 20.5}',
        "}",
        "}",
        "}",
    ]


def test_moving_a_node_changes_only_the_line_of_its_place():
    graph = small_graph()
    before = file.dumps(graph).splitlines()
    graph.places["x"] = Place(11.0, 20.5)
    changed = [old for old, new in zip(before, file.dumps(graph).splitlines(), strict=True) if old != new]
    assert changed == ['  "x": {"x": 10, "y": 20.5}']


def test_the_order_in_which_wires_were_drawn_does_not_show():
    one, other = Graph(), Graph()
    for graph, ports in ((one, "ab"), (other, "ba")):
        put(graph, Node(id=ItemId("x"), operator=KNOWN, names=("x",)))
        put(graph, Node(id=ItemId("y"), operator=KNOWN, names=("y",)))
        for port in ports:
            wire(graph, "x", 0, "y", port)
    assert file.dumps(one) == file.dumps(other)


def test_the_kept_file_of_version_1_still_opens_and_is_written_back_the_same():
    path = FIXTURES / "version-1.gsg"
    graph, view = file._load(path)
    assert file.dumps(graph, view).encode() == path.read_bytes()
    assert [block.kind for block in graph.blocks.values()] == ["no_grad", "for", "group"]
    assert graph.definitions["head"].inputs == ("q", "k")


def test_texts_that_json_or_the_reader_cannot_hold_are_saved_without_loss_of_the_rest():
    graph = small_graph()
    graph.nodes[ItemId("x")] = Node(
        id=ItemId("x"), operator=KNOWN, names=("x",), note="a\r\nb\x07\ud800c", beside="d\ne\x0c"
    )
    graph.places["x"] = Place(float("nan"), 1.0)
    graph.places["y"] = Place(1e300, 1.0)
    again = file.loads(file.dumps(graph))
    assert (again.nodes[ItemId("x")].note, again.nodes[ItemId("x")].beside) == ("a\nb\ufffdc", "d e")
    assert again.places == {"y": Place(1e7, 1.0)}


def test_a_place_of_something_that_was_merged_away_is_dropped():
    text = file.dumps(small_graph()).replace('"x": {"x": 10', '"gone": {"x": 10')
    assert file.loads(text).places == {}


def test_items_without_a_place_get_one_when_the_window_opens_the_file(tmp_path):
    graph = small_graph()
    file.save(graph, tmp_path / "a.gsg")
    opened, _ = file.load_with_view(tmp_path / "a.gsg")
    assert opened.places["x"] == Place(10.0, 20.5)
    assert opened.places["y"].y > 20.5


class TestSaving:
    def test_permissions_stay_and_new_files_follow_the_mask(self, tmp_path):
        path = tmp_path / "a.gsg"
        old = os.umask(0o027)
        try:
            file.save(small_graph(), path)
        finally:
            os.umask(old)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        file.save(small_graph(), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604

    def test_a_link_stays_a_link(self, tmp_path):
        (tmp_path / "real.gsg").write_text("old")
        (tmp_path / "link.gsg").symlink_to("real.gsg")
        file.save(small_graph(), tmp_path / "link.gsg")
        assert (tmp_path / "link.gsg").is_symlink()
        assert file.load(tmp_path / "real.gsg").nodes.keys() == {"x", "y"}

    def test_no_temporary_file_is_left(self, tmp_path):
        file.save(small_graph(), tmp_path / "a.gsg")
        assert [path.name for path in tmp_path.iterdir()] == ["a.gsg"]

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("nowhere/a.gsg", "there is no folder"),
            ("", "is a folder"),
            ("a\0b.gsg", "no file name"),
            ("n" * 300 + ".gsg", "too long"),
        ],
    )
    def test_what_cannot_be_saved_says_why(self, tmp_path, name, words):
        with pytest.raises(CannotSave, match=words):
            file.save(small_graph(), tmp_path / name)

    @pytest.mark.skipif(not Path("/dev/full").exists() or os.geteuid() != 0, reason="needs a small disk of its own")
    def test_a_full_disk_leaves_the_old_file(self, tmp_path):
        disk = tmp_path / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], capture_output=True).returncode:
            pytest.skip("this system does not let a test mount a small disk")
        try:
            (disk / "a.gsg").write_text("old")
            with pytest.raises(CannotSave, match="is full"):
                atomic_write.write_file(disk / "a.gsg", b"x" * 100_000)
            assert (disk / "a.gsg").read_text() == "old"
            assert len(list(disk.iterdir())) == 1
        finally:
            subprocess.run(["umount", disk], check=True)

    @pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
    def test_a_folder_one_may_not_write_in_says_so(self, tmp_path):
        tmp_path.chmod(0o500)
        with pytest.raises(CannotSave, match="may not write in the folder"):
            file.save(small_graph(), tmp_path / "a.gsg")

    @pytest.mark.parametrize("number", [13, 30, 28, 122])
    def test_what_the_system_refuses_is_told_in_words(self, number):
        told = atomic_write.system_refusal(OSError(number, "?"), Path("/folder/a.gsg"))
        assert "/folder" in told
        assert "system says" not in told

    # A child for each call that a save makes; none waits for the disk, of which a killed process takes nothing back.
    def test_killed_at_any_moment_of_a_save_the_old_or_the_new_file_is_whole(self, tmp_path):
        done = subprocess.run(
            [sys.executable, "-c", KILL_EVERYWHERE, str(tmp_path / "a.gsg")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        killed, old, new = map(int, done.stdout.split())
        assert killed == old + new
        assert min(old, new) > 3


KILL_EVERYWHERE = """
# Saves again and again, each time in a child that kills itself at another call that Python makes on the way.
import os, signal, sys
os.fsync = lambda number: None
from gradstudio.document import file
from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.graph.model import Graph, Header

def graph(seed):
    graph = Graph()
    graph.header = Header(seed)
    tensor = stored_tensor(bytes([seed]) * 9, "uint8", (9,))
    graph.tensors[tensor.digest] = tensor
    return graph

def save_and_die(at):
    left = at
    def profile(frame, event, argument):
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.setprofile(profile)
    file.save(graph(2), sys.argv[1])
    sys.setprofile(None)
    os._exit(0)

found, at, status = {1: 0, 2: 0}, 0, 1
while status != 0:
    at += 1
    file.save(graph(1), sys.argv[1])
    child = os.fork()
    if child == 0:
        save_and_die(at)
    status = os.waitpid(child, 0)[1]
    if status != 0:
        found[file.load(sys.argv[1]).header.seed] += 1
print(at - 1, found[1], found[2])
"""


class TestOpening:
    def test_a_missing_file_a_folder_and_a_pipe_say_what_they_are(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        for name, words in (("no.gsg", "there is no file"), ("", "is a folder"), ("pipe", "not an ordinary file")):
            with pytest.raises(CannotOpen, match=words):
                file.load(tmp_path / name)

    def test_a_file_of_gigabytes_is_not_even_read(self, tmp_path):
        with (tmp_path / "big.gsg").open("wb") as big:
            big.truncate(2**33)
        with pytest.raises(CannotOpen, match="more than 64 MiB"):
            file.load(tmp_path / "big.gsg")

    def test_a_name_that_cannot_be_one_says_so(self):
        with pytest.raises(CannotOpen):
            file.load("a\0b")


class TestStoredTensors:
    @pytest.fixture
    def saved(self, tmp_path):
        graph = small_graph()
        tensor = stored_tensor(bytes(range(24)), "float32", (2, 3), "a source")
        graph.tensors[tensor.digest] = tensor
        file.save(graph, tmp_path / "a.gsg")
        return tmp_path / "a.gsg", tensor, tmp_path / "a.tensors" / f"{tensor.digest}.safetensors"

    def test_they_lie_beside_the_document_named_by_their_content(self, saved):
        path, tensor, beside = saved
        assert beside.read_bytes() == tensor.data
        assert file.load(path).tensors == {tensor.digest: tensor}

    def test_the_files_are_what_safetensors_writes(self, saved):
        safetensors = pytest.importorskip("safetensors")
        _, tensor, _ = saved
        ((name, entry),) = safetensors.deserialize(tensor.data)
        assert (name, entry["dtype"], entry["shape"]) == ("data", "F32", [2, 3])
        assert bytes(entry["data"]) == bytes(range(24))

    def test_the_elements_begin_where_torch_would_have_them_in_memory(self, saved):
        _, tensor, _ = saved
        assert (8 + int.from_bytes(tensor.data[:8], "little")) % 64 == 0
        assert tensor.data.endswith(bytes(range(24)))

    @pytest.mark.parametrize(("dtype", "width"), [("complex64", 8), ("uint16", 2), ("uint32", 4), ("uint64", 8)])
    def test_the_rarer_dtypes_are_stored_as_well(self, tmp_path, dtype, width):
        graph = small_graph()
        tensor = stored_tensor(bytes(3 * width), dtype, (3,))
        graph.tensors[tensor.digest] = tensor
        file.save(graph, tmp_path / "a.gsg")
        assert file.load(tmp_path / "a.gsg").tensors == {tensor.digest: tensor}

    def test_missing_data_is_named_with_its_folder(self, saved):
        path, tensor, beside = saved
        beside.unlink()
        with pytest.raises(BadTensor, match=rf"a\.tensors/{tensor.digest}") as caught:
            file.load(path)
        assert caught.value.line == 13

    def test_changed_data_is_refused_and_saving_again_mends_it(self, saved):
        path, tensor, beside = saved
        graph = file.load(path)
        beside.write_bytes(tensor.data[:-1] + b"!")
        with pytest.raises(BadTensor, match="was changed"):
            file.load(path)
        file.save(graph, path)
        assert file.load(path).tensors == {tensor.digest: tensor}

    def test_what_is_no_file_of_the_folder_is_not_read(self, saved, tmp_path):
        path, tensor, beside = saved
        (tmp_path / "elsewhere").write_bytes(tensor.data)
        for make, words in (
            (os.mkfifo, "is not an ordinary file"),
            (lambda at: os.symlink("/dev/zero", at), "is not an ordinary file"),
            (lambda at: os.symlink(tmp_path / "elsewhere", at), "is a link that leads out of the folder"),
        ):
            beside.unlink()
            make(beside)
            with pytest.raises(BadTensor, match=words):
                file.load(path)

    def test_a_file_larger_than_it_says_of_itself_is_not_read_whole(self, saved):
        path, _, beside = saved
        with beside.open("r+b") as grown:
            grown.truncate(2**38)
        with pytest.raises(BadTensor, match="its size does not fit its shape"):
            file.load(path)

    def test_data_larger_than_the_memory_is_refused_with_the_figures(self, saved):
        path, _, beside = saved
        elements = 2**40
        head = json.dumps({"data": {"dtype": "F32", "shape": [elements], "data_offsets": [0, elements * 4]}}).encode()
        with beside.open("wb") as sparse:
            sparse.write(len(head).to_bytes(8, "little") + head)
            sparse.truncate(8 + len(head) + elements * 4)
        with pytest.raises(BadTensor, match=r"has 4,096\.0 GiB, and"):
            file.load(path)

    def test_data_of_another_shape_than_the_document_says_is_refused(self, saved):
        path, _, _ = saved
        path.write_text(path.read_text().replace("[2, 3]", "[3, 2]"))
        with pytest.raises(BadTensor, match=r"float32 \[2, 3\], but the document says float32 \[3, 2\]"):
            file.load(path)

    def test_a_text_alone_has_nothing_beside_it(self, saved):
        path, _, _ = saved
        with pytest.raises(BadTensor, match="give the file"):
            file.loads(path.read_text())


def test_saving_from_two_threads_leaves_one_whole_file(tmp_path):
    graphs_ = []
    for number in range(2):
        graph = small_graph()
        graph.header = Header(seed=number)
        graphs_.append(graph)
    threads = [threading.Thread(target=file.save, args=(graph, tmp_path / "a.gsg")) for graph in graphs_]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.load(tmp_path / "a.gsg").header.seed in (0, 1)
