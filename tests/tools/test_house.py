"""What the checks of the house find: each breach is made in a small house of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tools import house


@pytest.fixture
def build(tmp_path: Path):
    """A house of files: path and text."""

    def built(**files: str) -> house.House:
        texts = {"docs/glossary.md": "", "docs/semantics.md": "## 1. Words\n", "docs/architecture.md": ""}
        texts |= {"gradstudio/__init__.py": ""} | files
        for path, text in texts.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return house.House(tmp_path)

    return built


def found(lines: Iterator[str]) -> str:
    return "\n".join(lines)


def test_a_folder_of_more_than_twenty_modules_is_found(build) -> None:
    files = {f"gradstudio/room/module_{k}.py": "" for k in range(21)}
    assert "gradstudio/room: 21 modules" in found(house.full_folders(build(**files)))


def test_twenty_modules_are_not_too_many(build) -> None:
    files = {f"gradstudio/room/module_{k}.py": "" for k in range(20)} | {"gradstudio/room/__init__.py": ""}
    assert found(house.full_folders(build(**files))) == ""


def test_a_class_counts_with_the_bases_that_the_project_has(build) -> None:
    methods = [f"    def method_{k}(self): ...\n" for k in range(41)]
    base = "class Base:\n" + "".join(methods[:20])
    rest = "from gradstudio.base import Base\nclass Whole(Base):\n" + "".join(methods[20:])
    one = build(**{"gradstudio/base.py": base, "gradstudio/whole.py": rest})
    assert found(house.large_classes(one)) == "class Whole with its bases: 43 lines, 41 methods"


def test_a_class_that_declares_its_host_is_found(build) -> None:
    text = "from typing import TYPE_CHECKING\nclass Part:\n    if TYPE_CHECKING:\n        store: int\n"
    assert "Part declares its host" in found(house.large_classes(build(**{"gradstudio/part.py": text})))


def test_a_circle_of_imports_for_types_alone_is_one(build) -> None:
    first = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gradstudio.second import B\n"
    one = build(**{"gradstudio/first.py": first, "gradstudio/second.py": "from gradstudio import first\n"})
    assert found(house.circles(one)) == "circle of 2 modules: gradstudio.first, gradstudio.second"


def test_a_promise_of_no_qt_is_held_over_imports(build) -> None:
    files = {
        "gradstudio/pure.py": '"""Numbers. No Qt."""\nfrom gradstudio.seen import x\n',
        "gradstudio/seen.py": "from PySide6.QtGui import QColor\n",
    }
    assert "gradstudio/pure.py says «No Qt» and loads it by gradstudio.seen" in found(
        house.qt_where_none_is_promised(build(**files))
    )


def test_participles_are_no_names(build) -> None:
    one = build(**{"gradstudio/told.py": "", "gradstudio/words.py": "def made(): ...\ndef make(): ...\n"})
    lines = found(house.participles(one)).splitlines()
    assert lines == [
        "gradstudio/told.py: a participle is no name",
        "gradstudio/words.py:1 made(): a participle is no name",
    ]


def test_a_name_in_two_rooms_stands_in_the_glossary(build) -> None:
    files = {"gradstudio/graph/model.py": "", "gradstudio/engine/model.py": ""}
    assert "'model' is a module in engine, graph" in found(house.names_in_several_rooms(build(**files)))
    assert found(house.names_in_several_rooms(build(**files, **{"docs/glossary.md": "| `model` | records |\n"}))) == ""


def test_tests_that_patch_our_functions_are_found_and_constants_are_not(build) -> None:
    text = 'monkeypatch.setattr("gradstudio.graph.order.sort", fail)\nmonkeypatch.setattr("gradstudio.a.LIMIT", 3)\n'
    one = build(**{"tests/test_order.py": text})
    assert found(house.patches_of_our_own(one)) == "tests/test_order.py:1 patches a function of ours"


def test_a_reference_to_a_section_that_is_not_there_is_found(build) -> None:
    one = build(**{"gradstudio/order.py": '"""Order (semantics §1), names (semantics §9)."""\n'})
    assert found(house.references(one)) == "gradstudio/order.py: docs/semantics.md has no §9"


def test_a_reference_to_a_page_that_is_elsewhere_is_found(build) -> None:
    one = build(**{"gradstudio/order.py": '"""Order (SEMANTICS 3)."""\n'})
    assert found(house.references(one)) == "gradstudio/order.py: refers to a page that is not in the repository"


def test_a_path_in_a_page_leads_somewhere(build) -> None:
    one = build(**{"README.md": "`gradstudio/order.py` and `gradstudio/gone.py`\n", "gradstudio/order.py": ""})
    assert found(house.paths_in_pages(one)) == "README.md names gradstudio/gone.py, which is not there"


def test_a_dotted_name_in_a_page_is_a_module_or_in_one(build) -> None:
    page = (
        "`graph.order`, `graph.order.sort`, `gradstudio.graph.order.LIMIT`, `graph.order.Loop.items`, `cli.py`\n"
        "`graph.gone`, `graph.order.gone`, `graph.order.Loop.gone`, `graph.order.sort.gone`\n"
    )
    text = "LIMIT = 3\ndef sort(): ...\nclass Loop:\n    items: int\n"
    one = build(**{"docs/order.md": page, "gradstudio/graph/__init__.py": "", "gradstudio/graph/order.py": text})
    assert found(house.names_in_pages(one)).splitlines() == [
        "docs/order.md names graph.gone, which is no module and in none",
        "docs/order.md names graph.order.gone, which is no module and in none",
        "docs/order.md names graph.order.Loop.gone, which is no module and in none",
        "docs/order.md names graph.order.sort.gone, which is no module and in none",
    ]


def test_a_function_that_only_tests_name_is_found(build) -> None:
    files = {
        "gradstudio/order.py": (
            "class Loop:\n    @property\n    def size(self): ...\n    def __len__(self): ...\n"
            "    def mousePressEvent(self, event): ...\n    def visit_Call(self, node): ...\n    def turn(self): ...\n"
            "def sort(): ...\ndef ring(): ...\n"
        ),
        "gradstudio/view.py": "from gradstudio.order import sort\nWORD = 'turn'\n",
        "tests/test_order.py": "from gradstudio.order import ring\n",
    }
    assert found(house.unused_names(build(**files))).splitlines() == [
        "gradstudio/order.py:9 ring(): nobody in gradstudio names it",
        "gradstudio/order.py:3 size(): nobody in gradstudio names it",
    ]


@pytest.mark.parametrize(
    ("line", "lacks"),
    [
        ("from gradstudio.room import Name, value, inner", ""),
        ("from gradstudio import room", ""),
        ("import gradstudio.room", ""),
        ("from tests.helpers.all_of_it import whatever", ""),
        ("import os.path, pytest", ""),
        ("def test_it():\n    from gradstudio.room import Name", ""),
        ("from gradstudio.room import Name, Other", "gradstudio.room.Other"),
        ("from gradstudio.gone import Name", "gradstudio.gone.Name"),
        ("import tests.helpers.gone", "tests.helpers.gone"),
        (
            "def test_it():\n    try:\n        from gradstudio.room import local\n    except OSError: pass",
            "room.local",
        ),
    ],
)
def test_an_import_in_a_test_leads_somewhere(build, line: str, lacks: str) -> None:
    room = "if 1:\n    inner, value = 1, 2\nclass Name:\n    def f(self):\n        local = 1\n"
    helper = "def __getattr__(name): ...\n"
    files = {"gradstudio/room.py": room, "tests/helpers/all_of_it.py": helper, "tests/test_it.py": line}
    said = found(house.imports_of_nothing(build(**files)))
    assert lacks in said and bool(lacks) == bool(said)


def test_a_package_that_nobody_imports_is_found(build) -> None:
    project = '[project]\ndependencies = ["numpy>=2", "networkx>=3"]\noptional-dependencies.test = ["pytest>=9"]\n'
    one = build(**{"pyproject.toml": project, "gradstudio/order.py": "import numpy as np\n"})
    assert found(house.unused_dependencies(one)) == "networkx is declared and imported nowhere"


def test_the_list_of_folders_is_written_and_held_true(build) -> None:
    page = f"# Rooms\n{house.BEGIN}\nold\n{house.END}\nend\n"
    one = build(**{"docs/architecture.md": page, "gradstudio/graph/__init__.py": '"""The drawn program.\n\nMore."""\n'})
    assert "the list of folders" in found(house.stale_folders(one))
    house.write_folders(one)
    assert found(house.stale_folders(one)) == ""
    text = (one.root / "docs" / "architecture.md").read_text()
    assert "| `graph/` | The drawn program. More. |" in text and text.endswith("end\n")
