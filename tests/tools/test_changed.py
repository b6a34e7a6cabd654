"""What a change can break: by imports, by programs started by name, by files that are named; and since which commit."""

import subprocess
from pathlib import Path

import pytest

from tools import changed
from tools.import_graph import ImportGraph

FILES = {
    "dev.py": "",
    "gradstudio/__init__.py": "",
    "gradstudio/low.py": "A = 1\n",
    "gradstudio/middle.py": "def late():\n    from gradstudio import low\n    return low.A\n",
    "gradstudio/high.py": "import gradstudio.middle\n",
    "gradstudio/alone.py": '"""Says gradstudio.low and means nothing by it."""\n',
    "gradstudio/client.py": 'COMMAND = ["-m", "gradstudio.engine"]\n',
    "gradstudio/engine/__init__.py": "",
    "gradstudio/engine/__main__.py": "from gradstudio.engine import service\n",
    "gradstudio/engine/service.py": "",
    "gradstudio/icons.py": 'FOLDER = "icons"\n',
    "tests/conftest.py": "",
    "tests/helpers.py": "from gradstudio.low import A\n",
    "tests/test_low.py": "from gradstudio.low import A\n",
    "tests/test_high.py": "import gradstudio.high\n",
    "tests/test_alone.py": "import gradstudio.alone\n",
    "tests/test_client.py": "from gradstudio.client import COMMAND\n",
    "tests/test_text.py": 'CODE = "from gradstudio import alone, low"\n',
    "tests/test_tree.py": 'FILES = (ROOT / "gradstudio").rglob("*.py")\n',
    "tests/test_icons.py": "import gradstudio.icons\n",
    "tests/test_examples.py": 'PATHS = sorted(FOLDER.glob("*.gsg"))\n',
    "tests/room/conftest.py": "from tests.helpers import A\n",
    "tests/room/test_room.py": "",
    "tests/corpus/refused.py": "def (\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def names(paths: object) -> list[str]:
    return sorted(Path(path).stem.removeprefix("test_") for path in paths)  # type: ignore[attr-defined]  # paths are


@pytest.mark.parametrize(
    ("path", "broken"),
    [
        ("gradstudio/low.py", ["high", "low", "room", "text", "tree"]),
        ("gradstudio/high.py", ["high", "tree"]),
        ("gradstudio/alone.py", ["alone", "text", "tree"]),
        ("gradstudio/engine/service.py", ["client", "tree"]),
        ("tests/test_low.py", ["low"]),
        ("tests/helpers.py", ["room"]),
        ("tests/room/conftest.py", ["room"]),
        ("resources/icons/add.svg", ["icons"]),
        ("examples/first.gsg", ["examples"]),
    ],
)
def test_the_tests_that_a_file_can_break(project: Path, path: str, broken: list[str]) -> None:
    assert names(ImportGraph(project).tests_that_reach(path)) == broken


def test_a_file_that_nobody_names_can_break_anything(project: Path) -> None:
    graph = ImportGraph(project)
    assert graph.tests_that_reach("strange.bin") == set(graph.tests)


def test_a_module_that_is_gone_breaks_what_reads_its_package(project: Path) -> None:
    (project / "gradstudio/engine/service.py").unlink()
    assert names(ImportGraph(project).tests_that_reach("gradstudio/engine/service.py")) == ["client", "tree"]


@pytest.mark.parametrize("path", ["pyproject.toml", "constraints/cpu.txt", "tests/conftest.py", "tools/check.py"])
def test_what_holds_for_all_tests_breaks_all(project: Path, path: str) -> None:
    assert changed.tests_of(project, ["tests/test_low.py", path]) == ImportGraph(project).tests


def test_several_changes_break_what_each_of_them_breaks(project: Path) -> None:
    assert names(changed.tests_of(project, ["gradstudio/high.py", "tests/test_low.py"])) == ["high", "low", "tree"]
    assert changed.tests_of(project, []) == []


def git(project: Path, *words: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=project, check=True, capture_output=True)


@pytest.fixture
def history(project: Path) -> Path:
    """Two commits, of which the second changes `low.py`, and a file that git does not know."""
    git(project, "init", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    (project / "gradstudio/low.py").write_text("A = 2\n")
    git(project, "commit", "-q", "-a", "-m", "second")
    (project / "gradstudio/new.py").write_text("")
    return project


def test_changed_is_what_the_last_commit_and_the_folder_hold(history: Path) -> None:
    (history / "gradstudio/high.py").unlink()
    found = ["gradstudio/high.py", "gradstudio/low.py", "gradstudio/new.py"]
    assert changed.changed_files(history) == found
    assert changed.changed_files(history, "HEAD") == ["gradstudio/high.py", "gradstudio/new.py"]


def test_on_a_branch_it_is_all_since_main_was_left(history: Path) -> None:
    git(history, "update-ref", "refs/remotes/origin/main", "HEAD~")
    git(history, "commit", "-q", "--allow-empty", "-m", "third")
    assert changed.changed_files(history) == ["gradstudio/low.py", "gradstudio/new.py"]


def test_a_commit_that_is_not_there_is_refused(history: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        changed.changed_files(history, "nowhere")


def test_files_that_are_no_python_are_checked_by_tests_alone() -> None:
    assert [stage.title for stage in changed.stages(["README.md"], ["tests/test_docs.py"])] == ["tests"]
    titles = [stage.title for stage in changed.stages(["gradstudio/errors.py"], [])]
    assert [title.partition(" ")[0] for title in titles] == ["format", "lint", "style", "imports", "types"]
