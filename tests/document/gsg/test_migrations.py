from pathlib import Path

import pytest

from gradstudio.document import file
from gradstudio.document.gsg.file_records import VERSION
from gradstudio.document.gsg.migrations import MIGRATIONS, migrate

FIXTURES = Path(__file__).parents[1] / "fixtures"


def test_every_older_version_has_a_migration_and_every_version_a_kept_file_that_opens():
    assert list(MIGRATIONS) == list(range(1, VERSION))
    for version in range(1, VERSION + 1):
        assert file.load(FIXTURES / f"version-{version}.gsg").nodes


def test_migrations_run_one_after_the_other_up_to_the_target():
    table = {
        1: lambda plain: {**plain, "steps": ["one"]},
        2: lambda plain: {**plain, "steps": [*plain["steps"], "two"]},
    }
    assert migrate({"version": 1}, table, 3) == {"version": 3, "steps": ["one", "two"]}
    assert migrate({"version": 3, "kept": 1}, table, 3) == {"version": 3, "kept": 1}


def test_a_migration_does_not_change_what_it_is_given():
    before = {"version": 1, "items": [1]}
    migrate(before, {1: lambda plain: {**plain, "items": []}}, 2)
    assert before == {"version": 1, "items": [1]}


@pytest.mark.feature(75)
def test_an_older_file_is_read_by_way_of_its_migrations(monkeypatch):
    monkeypatch.setitem(MIGRATIONS, 0, _from_zero)
    old = '{"format": "gradstudio-graph", "version": 0, "nodes": [{"kind": "node", "id": "x", "operator": "o"}]}'
    assert file.loads(old).nodes.keys() == {"x"}


def _from_zero(plain):
    return {("items" if key == "nodes" else key): value for key, value in plain.items()}
