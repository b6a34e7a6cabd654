"""Pictures of a run, from the command line and as files: what they hold equals torch's numbers; refusals in words."""

import json
import re
import shutil
import struct
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtGui import QImage, QImageReader
from PySide6.QtWidgets import QApplication

from gradstudio.cli import main
from gradstudio.document.opened_graph import open_graph
from gradstudio.document.png_embedding import LARGEST_EMBEDDED, load_picture
from gradstudio.graph.model import Graph
from gradstudio.headless import trace_events
from gradstudio.paths import examples
from gradstudio.scene.overlay_registry import Shown
from gradstudio.ui import theme as themes
from gradstudio.ui.canvas.paint import picture_export
from gradstudio.ui.pictures.errors import PictureRefused
from gradstudio.ui.pictures.figures import stepping_figures, style_of
from gradstudio.ui.pictures.film import gif_film
from gradstudio.ui.pictures.gif_writer import gif_bytes
from gradstudio.ui.pictures.moments import items_called, tick_of_moment, tick_of_step
from gradstudio.ui.pictures.picture_files import picture_image, write_picture
from gradstudio.ui.pictures.picture_formats import FORMATS, file_filter
from gradstudio.ui.pictures.picture_request import PictureRequest, Subject
from gradstudio.ui.pictures.recorded_results import recorded_results

SVG = "{http://www.w3.org/2000/svg}"
TWO_PATHS = examples() / "02_two_paths.gsg"
PAPER = PictureRequest("paper", themes.theme("light"), 1.0)


@pytest.fixture(scope="module")
def subject(qapp: QApplication) -> Subject:
    """x reaches the loss twice, and has run."""
    graph = open_graph(str(TWO_PATHS))
    return Subject(graph, recorded_results(graph, trace_events(graph)), title="two paths")


def texts(path: Path) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.parse(path).iter(f"{SVG}text")]


def test_a_figure_of_a_run_says_torchs_numbers(subject: Subject, tmp_path: Path) -> None:
    import torch

    x, y = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    z = x * y
    w = z + x
    loss = w**2
    for value in (z, w, loss):
        value.retain_grad()
    loss.backward()
    write_picture(subject, PAPER, tmp_path / "a.svg")
    said = texts(tmp_path / "a.svg")
    for name, value in (("x", x), ("y", y), ("z = x · y", z), ("w = z + x", w), ("loss = w2", loss)):
        place = said.index(name)
        assert value.grad is not None
        assert said[place + 1 : place + 3] == [f"{value.item():g}", f"∇ = {value.grad.item():g}"]
    assert sorted(said[-5:]) == sorted(["16", "48", "32", "16", "16"])  # sent back: x and y through z, z, x and w


def test_one_step_of_the_backward_is_a_picture(subject: Subject, tmp_path: Path) -> None:
    timeline, attention = subject.results.timeline, subject.results.attention
    attention.look_at(tick_of_moment(timeline, subject.graph, "backward:z"))
    try:
        write_picture(subject, replace(PAPER, shown=Shown(wire_gradients=False)), tmp_path / "a.svg")
    finally:
        attention.look_at(None)
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    lit = {group.get("id") for group in root.iter(f"{SVG}g") for path in group if path.get("stroke-dasharray")}
    assert len(lit) == 3  # in from w, out to x and to y
    ink = style_of(PAPER).ink("gradient")
    assert [rect.get("stroke") for rect in root.iter(f"{SVG}rect")].count(ink) == 1
    assert {"48", "32", "16"} <= set(texts(tmp_path / "a.svg"))
    assert "∇ = 64" not in texts(tmp_path / "a.svg")  # x has not got both yet


def test_the_page_steps_through_every_moment_with_torchs_numbers(subject: Subject, tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    assert write_picture(subject, PAPER, path) == ""
    page = path.read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)=|@import|url\(|https?://(?!www\.w3\.org/2000/svg)", page)
    data = re.search(r'<script type="application/json" id="steps">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    record = json.loads(data[1])
    ticks = subject.results.timeline.ticks
    assert len(record) == ticks[-1].group + 1 == len(stepping_figures(subject, PAPER).drawings)
    assert f'max="{len(record) - 1}"' in page and "prefers-color-scheme: dark" in page and "ArrowRight" in page
    shown: dict[str, str] = {}
    said: list[set[str]] = []
    for step in record:
        shown |= step["marks"]
        assert all(f'id="{key}"' in page for key in step["marks"])
        found = (ElementTree.fromstring(text) for text in shown.values() if text)
        said.append({"".join(one.itertext()) for one in found})
    assert "64" not in said[3] and "64" in said[4]  # loss = w² is the fifth statement
    assert [any(f"∇ = {n}" in words for words in said) for n in (1, 16, 32, 64)] == [True] * 4
    both = next(k for k, words in enumerate(said) if "∇ = 64" in words)  # what came directly and through z is added
    assert "x = torch.tensor" in record[both]["caption"] and {"16", "48"} <= said[both - 1]
    assert record[0]["caption"].startswith(f"step 1 of {len(record)} · x = torch.tensor(2.0")
    assert "backward 1 · z = x * y (MulBackward0)" in {step["caption"].split(" · ", 1)[1] for step in record}
    assert subject.results.moment is None


def test_a_page_ends_no_script_and_no_tag_whatever_is_in_the_program(qapp: QApplication, tmp_path: Path) -> None:
    text = tmp_path / "a.py"
    text.write_text('import torch\nx = torch.ones(2)\ny = "</script><b>" + "<!--"\n')
    assert main(["render", str(text), "-o", str(tmp_path / "a.html")]) == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.count("</script>") == 2 and "<b>" not in page and "<!--" not in page


@pytest.mark.parametrize("transparent", [False, True])
def test_a_png_is_on_white_or_on_nothing_and_holds_the_document(
    subject: Subject, tmp_path: Path, transparent: bool
) -> None:
    request = replace(PAPER, is_filled=not transparent)
    assert write_picture(subject, request, tmp_path / "a.png") == ""
    image = QImage(str(tmp_path / "a.png"))
    corner = image.pixelColor(0, 0)
    assert corner.alpha() == (0 if transparent else 255) and (transparent or corner.name() == "#ffffff")
    assert load_picture(tmp_path / "a.png")[0].nodes.keys() == subject.graph.nodes.keys()
    assert picture_image(subject, replace(PAPER, scale=2.0)).width() == pytest.approx(2 * image.width(), abs=2)


def test_a_pdf_has_text_in_fonts_that_travel_with_it(subject: Subject, tmp_path: Path) -> None:
    write_picture(subject, PAPER, tmp_path / "a.pdf")
    data = (tmp_path / "a.pdf").read_bytes()
    assert data.startswith(b"%PDF") and len(data) < 60_000
    assert b"/ToUnicode" in data and b"/FontFile" in data and b"/Subtype /Image" not in data
    if shutil.which("pdftotext"):
        said = subprocess.run(["pdftotext", str(tmp_path / "a.pdf"), "-"], capture_output=True, text=True, check=True)
        assert {"w=z+x", "∇=64", "48"} <= {line.replace(" ", "") for line in said.stdout.splitlines()}


@pytest.mark.parametrize("style", ["window", "paper"])
def test_a_selection_alone_is_a_picture(subject: Subject, style: str, tmp_path: Path) -> None:
    only = frozenset(items_called(subject.graph, ("z", "w")))
    part = Subject(subject.graph, subject.results, only)
    request = PictureRequest(style, themes.theme("light"), 1.0)  # type: ignore[arg-type]
    whole, some = picture_image(subject, request), picture_image(part, request)
    assert some.width() < whole.width() * 0.7
    write_picture(part, request, tmp_path / "a.svg")
    names = {words.split(" = ")[0].strip() for words in texts(tmp_path / "a.svg")}
    assert {"z", "w"} <= names and "loss" not in names


def test_wires_gradients_are_in_a_picture_of_cards_when_they_are_asked_for(subject: Subject) -> None:
    request = PictureRequest("window", themes.theme("light"), 1.0, Shown(wire_gradients=True))
    bare = replace(request, shown=Shown(wire_gradients=False))
    assert picture_image(subject, request) != picture_image(subject, bare)


def test_a_moment_is_marked_in_a_picture_of_cards(subject: Subject) -> None:
    request = PictureRequest("window", themes.theme("light"), 1.0, Shown(wire_gradients=False))
    backward = request.theme.color("backward").rgb()

    def marked() -> int:
        image = picture_image(subject, request).convertToFormat(QImage.Format.Format_RGB32)
        pixels = np.frombuffer(image.constBits(), np.uint32)
        return int((pixels == backward).sum())

    before = marked()
    subject.results.attention.look_at(tick_of_moment(subject.results.timeline, subject.graph, "backward:z"))
    try:
        assert marked() > before + 500
    finally:
        subject.results.attention.look_at(None)


def test_the_tab_in_a_picture_says_which_step_of_the_backward_it_is(subject: Subject, tmp_path: Path) -> None:
    request = PictureRequest("window", themes.theme("light"), 1.0, Shown(wire_gradients=False))
    told = []
    for name in ("loss", "w", "z"):
        subject.results.attention.look_at(tick_of_moment(subject.results.timeline, subject.graph, f"backward:{name}"))
        try:
            write_picture(subject, request, tmp_path / "a.svg")
        finally:
            subject.results.attention.look_at(None)
        told += [text for text in texts(tmp_path / "a.svg") if re.fullmatch(r"\d+/\d+", text)]
    count = told[0].partition("/")[2]
    assert told == [f"1/{count}", f"2/{count}", f"3/{count}"]


def test_a_film_shows_each_step(subject: Subject, tmp_path: Path) -> None:
    stepping = stepping_figures(subject, PAPER)
    path = tmp_path / "a.gif"
    path.write_bytes(gif_film(stepping, style_of(PAPER), 1.0))
    reader = QImageReader(str(path))
    assert reader.imageCount() == len(stepping.drawings)
    frames = [reader.read() for _ in stepping.drawings]
    assert not any(frame.isNull() for frame in frames) and len({frame.size().toTuple() for frame in frames}) == 1
    assert all(one != other for one, other in pairwise(frames))
    assert len(path.read_bytes()) < 200_000


def test_a_gif_decodes_to_the_pixels_that_were_given(qapp: QApplication, tmp_path: Path) -> None:
    """With more codes than the table has, so that it begins anew, and with frames that change in a corner alone."""
    noise = np.random.default_rng(0).integers(0, 200, (120, 130)).astype(np.uint8)
    second = noise.copy()
    second[50:70, 20:90] = 7
    palette = [(k, 255 - k, (3 * k) % 256) for k in range(200)]
    (tmp_path / "a.gif").write_bytes(gif_bytes([(noise, 100), (second, 250), (second, 50)], palette))
    reader = QImageReader(str(tmp_path / "a.gif"))
    for indices, delay_ms in ((noise, 100), (second, 250), (second, 50)):
        image = reader.read().convertToFormat(QImage.Format.Format_RGB32)
        pixels = np.frombuffer(image.constBits(), np.uint32).reshape(120, 130) & 0xFFFFFF
        wanted = np.array([red << 16 | green << 8 | blue for red, green, blue in palette], np.uint32)[indices]
        assert (pixels == wanted).all()
        assert reader.nextImageDelay() in (delay_ms, max(delay_ms, 100))


def test_an_mp4_is_made_by_ffmpeg_or_refused_in_words(
    subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        PictureRefused, match=r"made by ffmpeg, which is not installed here: install it, or write a \.gif"
    ):
        write_picture(subject, PAPER, tmp_path / "a.mp4")
    stand_in = tmp_path / "ffmpeg"
    stand_in.write_text(f"#!{sys.executable}\nimport sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())\n")
    stand_in.chmod(0o755)
    write_picture(subject, PAPER, tmp_path / "a.mp4")
    steps = len(stepping_figures(subject, PAPER).drawings)
    assert (tmp_path / "a.mp4").read_bytes().count(b"\x89PNG") >= steps
    stand_in.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no such codec')\n")
    with pytest.raises(PictureRefused, match="no such codec"):
        write_picture(subject, PAPER, tmp_path / "b.mp4")
    assert not (tmp_path / "b.mp4").exists()


def test_moments_and_names_that_are_not_there_are_refused_in_words(subject: Subject) -> None:
    timeline, graph = subject.results.timeline, subject.graph
    for number in (0, 999):
        with pytest.raises(PictureRefused, match=f"there is no step {number}: the record has steps 1 to 11"):
            tick_of_step(timeline, number)
    with pytest.raises(PictureRefused, match="there is no node 'lose': did you mean loss"):
        items_called(graph, ("x", "lose"))
    with pytest.raises(PictureRefused, match=r"'sideways:z' is no moment: write forward:NODE or backward:NODE"):
        tick_of_moment(timeline, graph, "sideways:z")
    with pytest.raises(PictureRefused, match="no backward came by there"):
        tick_of_moment(timeline, graph, "backward:backward_1")
    nothing = recorded_results(graph, ())
    with pytest.raises(PictureRefused, match="nothing was recorded"):
        stepping_figures(Subject(graph, nothing), PAPER)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["-o", "a.doc"], 2, "a.doc: the picture must end in .png, .svg, .pdf, .tex, .html, .gif or .mp4."),
        (["-o", "a.tex", "--style", "window"], 1, "a .tex is drawn in the style paper, not window"),
        (["-o", "a.svg", "--only", "x,why"], 1, "there is no node 'why'"),
        (["-o", "none/a.svg", "--style", "paper"], 1, "there is no folder"),
    ],
)
def test_the_command_refuses_in_words(
    words: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, qapp: QApplication,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(["render", str(TWO_PATHS), *words]) == code
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_command_draws_a_moment(tmp_path: Path, qapp: QApplication, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "a.svg"
    assert main(["render", str(TWO_PATHS), "-o", str(out), "--style", "paper", "--step", "7"]) == 0
    assert "∇ = 1" in texts(out)
    assert main(["render", str(TWO_PATHS), "-o", str(out), "--style", "paper", "--step", "70"]) == 1
    assert "there is no step 70: the record has steps 1 to 11." in capsys.readouterr().err


def test_every_format_is_in_the_dialog_and_written(subject: Subject, tmp_path: Path) -> None:
    assert all(f"(*{row.suffix})" in file_filter() for row in FORMATS)
    for row in FORMATS:
        if row.suffix != ".mp4":
            write_picture(subject, PAPER, tmp_path / f"a{row.suffix}")
            assert (tmp_path / f"a{row.suffix}").stat().st_size > 1_000


def test_a_large_canvas_is_scaled_to_what_every_viewer_opens(qapp: QApplication, tmp_path: Path) -> None:
    graph = open_graph(str(TWO_PATHS))
    (far,) = items_called(graph, ("loss",))
    graph.places[far] = graph.places[far].__class__(30_000.0, 0.0)
    image = picture_export.render_picture(graph, None, themes.theme("light"), 2.0)
    assert max(image.width(), image.height()) == 8_000
    note = picture_export.save_picture(graph, None, themes.theme("light"), tmp_path / "far.png", 2.0)
    assert "Its cards are drawn at 26 %" in note and "8,000 pixels" in note
    near = open_graph(str(TWO_PATHS))
    assert picture_export.save_picture(near, None, themes.theme("light"), tmp_path / "near.png", 2.0) == ""


def test_a_document_that_viewers_would_choke_on_is_left_out_and_that_is_said(
    qapp: QApplication, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pillow opens no picture with a text of more than a MiB."""
    graph: Graph = open_graph(str(TWO_PATHS))
    (x,) = items_called(graph, ("x",))

    graph.nodes[x] = replace(graph.nodes[x], note="\n".join(["a note of many words"] * 60_000))
    note = picture_export.save_picture(Graph(), None, themes.theme("light"), tmp_path / "small.png")
    assert note == ""
    data, note = picture_export.with_document((tmp_path / "small.png").read_bytes(), graph, None)
    assert note.startswith("Its document is left out: its text is 1.") and "Keep the document itself" in note
    for kind, size in chunks(data):
        assert kind != b"iTXt" or size < LARGEST_EMBEDDED


def chunks(png: bytes) -> list[tuple[bytes, int]]:
    found, at = [], 8
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        found.append((png[at + 4 : at + 8], length))
        at += 12 + length
    return found
