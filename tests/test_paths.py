"""The data that travels with the program is found, in a checkout and in a wheel."""

from pathlib import Path

import pytest

from gradstudio import paths


def test_the_resources_of_a_checkout_lie_beside_the_package() -> None:
    assert paths.resources() == Path(paths.__file__).parent.parent / "resources"
    assert (paths.resources() / "catalogue" / "operators.json").is_file()


def test_in_a_wheel_they_lie_inside_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    monkeypatch.setattr(paths, "_PACKAGE", tmp_path)
    assert paths.examples.__wrapped__() == tmp_path / "examples"
    assert paths.resources.__wrapped__() == tmp_path.parent / "resources"
