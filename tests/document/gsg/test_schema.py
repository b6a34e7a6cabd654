import json
from pathlib import Path

import pytest
from hypothesis import given

from gradstudio import paths
from gradstudio.document import file
from gradstudio.document.errors import UnreadableFile
from gradstudio.document.gsg import schema
from tests.document.graphs import graphs

jsonschema = pytest.importorskip("jsonschema")
PUBLISHED = paths.resources() / "schema" / schema.FILE_NAME
FIXTURE = Path(__file__).parents[1] / "fixtures" / "version-1.gsg"


@pytest.fixture(scope="module")
def validator():
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(published)
    return jsonschema.Draft202012Validator(published)


def test_the_published_schema_is_what_the_records_say():
    command = "python -m gradstudio.document.gsg.schema > resources/schema/graph-v1.json"
    assert PUBLISHED.read_text(encoding="utf-8") == schema.text(), f"write it anew: {command}"


def test_the_kept_file_fits_the_schema(validator):
    validator.validate(json.loads(FIXTURE.read_text(encoding="utf-8")))


@given(graphs())
def test_every_file_we_write_fits_the_schema(validator, graph):
    validator.validate(json.loads(file.dumps(graph)))


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.pop("format"),
        lambda document: document.update(version=2),
        lambda document: document.update(itms=[]),
        lambda document: document["items"][0].update(kind="while"),
        lambda document: document["items"][0].update(operatr="x"),
        lambda document: document["items"][0].update(names="x"),
        lambda document: document["wires"][0].pop("to"),
        lambda document: document["tensors"][0].update(digest="../../secret"),
        lambda document: document["header"].update(device="cpu)"),
        lambda document: document["view"]["places"]["x"].update(x=1e300),
    ],
)
def test_what_the_reader_refuses_the_schema_refuses_too(validator, change):
    document = json.loads(FIXTURE.read_text(encoding="utf-8"))
    change(document)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(document)
    with pytest.raises(UnreadableFile):
        file.loads(json.dumps(document))
