"""The desktop's entry and file type: written for one person, taken away without a trace."""

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from configparser import ConfigParser
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="entries of a Linux desktop")


def gradstudio(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_DATA_HOME": str(home / "data")}
    command = [sys.executable, "-m", "gradstudio", "integrate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_the_entry_names_a_program_that_exists_and_the_type_a_suffix(tmp_path: Path) -> None:
    answer = gradstudio(tmp_path)
    assert answer.returncode == 0, answer.stderr
    entry = ConfigParser(interpolation=None)
    entry.read(tmp_path / "data" / "applications" / "gradstudio.desktop")
    section = entry["Desktop Entry"]
    assert Path(section["Exec"].split('"')[1]).exists() and section["Exec"].endswith(" %F")
    kind = ElementTree.parse(tmp_path / "data" / "mime" / "packages" / "gradstudio.xml").getroot()
    assert [part.get("pattern") for part in kind.iter() if part.tag.endswith("glob")] == ["*.gsg"]
    own, picture = section["MimeType"].rstrip(";").split(";")
    assert own in {part.get("type") for part in kind.iter()}
    assert picture == "image/png" and not list((tmp_path / "data").rglob("*mimeapps*"))
    assert (tmp_path / "data" / "icons" / "hicolor" / "scalable" / "apps" / "gradstudio.svg").exists()


@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="desktop-file-utils is not installed")
def test_the_entry_is_valid(tmp_path: Path) -> None:
    gradstudio(tmp_path)
    entry = tmp_path / "data" / "applications" / "gradstudio.desktop"
    answer = subprocess.run(["desktop-file-validate", str(entry)], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (0, "")


def test_remove_leaves_no_file_of_ours(tmp_path: Path) -> None:
    gradstudio(tmp_path)
    answer = gradstudio(tmp_path, "--remove")
    assert answer.returncode == 0 and "Removed" in answer.stdout
    assert not [path for path in (tmp_path / "data").rglob("*gradstudio*") if path.is_file()]
    assert "nothing to remove" in gradstudio(tmp_path, "--remove").stdout


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    answer = gradstudio(tmp_path)
    assert answer.returncode == 1
    assert "cannot be written" in answer.stderr and "Traceback" not in answer.stderr
