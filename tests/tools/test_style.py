"""The checks of the repository find what they are there for, and nothing else."""

from pathlib import Path, PurePath

import pytest

from tools import style
from tools.check import ROOT

WINDOW = PurePath("gradstudio/ui/docks/inspector/panel.py")
PANEL = '"""A panel."""\n'


@pytest.mark.parametrize(
    ("path", "line", "instead"),
    [
        ("gradstudio/graph/rules.py", "except Exception:", "name the errors"),
        ("gradstudio/graph/rules.py", "except:", "name the errors"),
        ("gradstudio/graph/rules.py", "# TODO later", "open an issue"),
        ("gradstudio/graph/rules.py", "x = y  # type: ignore", "with a reason"),
        ("gradstudio/graph/rules.py", "x = y  # type: ignore[misc]", "with a reason"),
        ("gradstudio/document/file.py", "pickle.loads(b)", "safetensors"),
        ("gradstudio/ui/app/application.py", "app.processEvents()", "a signal"),
        ("gradstudio/ui/canvas/view.py", "import threading", "no threads"),
        ("gradstudio/ui/canvas/view.py", "QColor('#ff0000')", "theme"),
        ("gradstudio/ui/canvas/view.py", "QColor(1, 2, 3)", "theme"),
        ("gradstudio/ui/state/store.py", "edited = Signal(dict)", "Signal(object)"),
        ("tests/ui/canvas/test_view.py", "time.sleep(1)", "waitUntil"),
        ("tests/ui/canvas/test_view.py", "assert perf_counter() - begin < 1", "benchmark"),
        ("tests/test_a.py", "from unittest.mock import Mock", "process edge"),
    ],
)
def test_an_unwanted_line_is_found_with_what_to_write_instead(path: str, line: str, instead: str) -> None:
    (breach,) = style.pattern_breaches(f"\n{line}\n", PurePath(path))
    assert breach.startswith("2: ")
    assert instead in breach


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("gradstudio/engine/session.py", "except Exception:"),
        ("gradstudio/graph/rules.py", "except KeyError:"),
        ("gradstudio/graph/rules.py", "x = y  # type: ignore[misc]  # the stub is wrong"),
        ("gradstudio/engine/reader.py", "import threading"),
        ("gradstudio/ui/theme/colors.py", "QColor('#ff0000')"),
        ("gradstudio/ui/state/store.py", "edited = Signal(object)"),
        ("benchmarks/startup.py", "time.sleep(1)"),
    ],
)
def test_what_is_allowed_is_left_alone(path: str, line: str) -> None:
    assert list(style.pattern_breaches(line, PurePath(path))) == []


def test_a_function_of_61_lines_is_refused_and_one_of_60_is_not() -> None:
    def text(lines: int) -> str:
        return PANEL + "def f():\n" + "    pass\n" * (lines - 1)

    assert style.breaches_of(text(60), WINDOW) == []
    assert style.breaches_of(text(61), WINDOW) == ["2: f has 61 lines, 60 is the limit"]


def test_a_long_module_of_records_alone_is_no_data_table() -> None:
    records = PANEL + 'class Row:\n    """A row."""\n' + "    a: int\n" * 400
    assert style.breaches_of(records, WINDOW) == ["1: the module has 403 lines, 400 is the limit"]


def test_the_checks_by_themselves_print_each_breach_and_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "long.py").write_text(PANEL + "def f(): ...\n" * 400)
    assert style.main(tmp_path) == 1
    assert capsys.readouterr().out == "long.py:1: the module has 401 lines, 400 is the limit\n"


def test_the_checks_by_themselves_pass_where_nothing_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "short.py").write_text(PANEL)
    assert style.main(tmp_path) == 0


def test_a_long_module_is_refused_unless_it_is_a_data_table() -> None:
    table = PANEL + "A = 1\n" * 500
    assert style.breaches_of(table, WINDOW) == []
    assert style.breaches_of(table + "def f(): ...\n", WINDOW) == ["1: the module has 502 lines, 400 is the limit"]


def test_a_public_method_of_the_window_needs_a_docstring_but_an_override_of_qt_does_not() -> None:
    text = PANEL + "class View:\n    def zoom_in(self): ...\n    def paintEvent(self): ...\n    def _draw(self): ...\n"
    assert style.breaches_of(text, WINDOW) == ["3: View.zoom_in has no docstring"]


def test_what_a_base_in_the_module_describes_needs_no_docstring_again() -> None:
    base = 'class Editor:\n    def text(self):\n        """What stands there."""\n\n'
    assert style.breaches_of(PANEL + base + "class Line(Editor):\n    def text(self): ...\n", WINDOW) == []
    assert len(style.breaches_of(PANEL + "class Line:\n    def text(self): ...\n", WINDOW)) == 1


def test_all_rooms_are_looked_at() -> None:
    looked_at = {path.parts[1] for path in style.python_files(ROOT) if path.parts[0] == "gradstudio"}
    assert {"operators", "graph", "engine", "ui"} <= looked_at


def test_a_choice_within_a_choice_is_refused() -> None:
    line = PANEL + "x = a if b else c if d else e\ny = a if b else c\n"
    (breach,) = style.breaches_of(line, PurePath("gradstudio/graph/rules.py"))
    assert breach.startswith("2: a choice within a choice")
    assert style.breaches_of(line, PurePath("tests/graph/test_rules.py")) == []
