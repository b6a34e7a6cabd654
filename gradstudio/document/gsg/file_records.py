"""Version 1 of the file as records: what each line of a `.gsg` holds. Unknown fields are refused.

The published schema (`resources/schema/graph-v1.json`) is made from these records; what they
cannot say (names, order, wires) is checked in `document.gsg.graph_loading`.
"""

from typing import Annotated
from typing import Literal as OneOf

import msgspec
from msgspec import Meta

from gradstudio.graph.model import Mark

FORMAT = "gradstudio-graph"
FRAGMENT_FORMAT = "gradstudio-fragment"
VERSION = 1
MAX_LINES = 200_000
"""Of a Python text, as the reader takes them."""

NO_CONTROL = r"^[^\x00-\x1f\x7f]*$(?!\n)"
MANY_LINES = r"^[^\x00-\x08\x0b-\x1f\x7f]*$"
Line = Annotated[str, Meta(pattern=NO_CONTROL)]
"""Text of one line."""
Name = Annotated[str, Meta(min_length=1, max_length=100, pattern=NO_CONTROL)]
Id = Annotated[str, Meta(min_length=1, max_length=200, pattern=NO_CONTROL)]
Path = Annotated[str, Meta(min_length=1, max_length=300, pattern=NO_CONTROL)]
Literal = Annotated[str, Meta(max_length=1_000_000)]
Beside = Annotated[str, Meta(pattern=r"^[^\x00-\x08\x0a-\x1f\x7f]*$(?!\n)")]
"""A comment of one line."""
Note = Annotated[str, Meta(pattern=MANY_LINES)]
TextLine = Annotated[str, Meta(max_length=5_000_000)]
"""A line of a Python text without its end; of a text with other line ends, with a carriage return."""
Count = Annotated[int, Meta(ge=0, le=10_000)]
Pixel = Annotated[float, Meta(ge=-1e7, le=1e7)]
PlaceKey = Annotated[str, Meta(max_length=600)]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)", description="sha256 of the safetensors file")]


class Record(msgspec.Struct, frozen=True, gc=False, kw_only=True, forbid_unknown_fields=True):
    """Base: frozen, and a field that is not known is refused."""


class HeaderRecord(Record, frozen=True, kw_only=True):
    """Seed, device and default dtype, as they are printed before the program."""

    seed: int | None = 0
    device: Annotated[str, Meta(max_length=40, pattern=r"^[a-z]+(:[0-9]{1,4})?$(?!\n)")] = "cpu"
    default_dtype: Annotated[str, Meta(max_length=40, pattern=r"^(torch\.[a-z0-9_]+)?$(?!\n)")] = ""
    deferred_annotations: bool = False


class ItemRecord(Record, frozen=True, kw_only=True, tag_field="kind"):
    """What nodes and blocks have in common. `in` is the block around the item."""

    id: Id
    inside: Id = msgspec.field(name="in", default="")
    literals: dict[Path, Literal] = {}
    lengths: dict[Path, Count] = {}
    note: Note = ""
    beside: Beside = ""
    blank_before: bool = False
    muted: bool = False


class NodeRecord(ItemRecord, frozen=True, kw_only=True, tag="node"):
    """One operator applied once."""

    operator: Path
    names: list[Name] = []
    positional: list[Path] | None = None
    nested: bool = False
    bypassed: bool = False
    marks: list[Mark] = []


class BlockRecord(ItemRecord, frozen=True, kw_only=True):
    """A Python block; its statements follow it and name it in `in`."""

    title: Line = ""
    variable: str = ""
    carried: list[Name] = []


class NoGradRecord(BlockRecord, frozen=True, kw_only=True, tag="no_grad"):
    """``with torch.no_grad():``."""


class EnableGradRecord(BlockRecord, frozen=True, kw_only=True, tag="enable_grad"):
    """``with torch.enable_grad():``."""


class InferenceModeRecord(BlockRecord, frozen=True, kw_only=True, tag="inference_mode"):
    """``with torch.inference_mode():``."""


class SetGradEnabledRecord(BlockRecord, frozen=True, kw_only=True, tag="set_grad_enabled"):
    """``with torch.set_grad_enabled(mode):``."""


class SetDetectAnomalyRecord(BlockRecord, frozen=True, kw_only=True, tag="set_detect_anomaly"):
    """``with torch.autograd.set_detect_anomaly(mode):``."""


class DetectAnomalyRecord(BlockRecord, frozen=True, kw_only=True, tag="detect_anomaly"):
    """``with torch.autograd.detect_anomaly():``."""


class AutocastRecord(BlockRecord, frozen=True, kw_only=True, tag="autocast"):
    """``with torch.autocast(...):``."""


class ForRecord(BlockRecord, frozen=True, kw_only=True, tag="for"):
    """``for variable in ...:``; where it is `endless` ``while True:``, which code in it ends."""

    endless: bool = False


class IfRecord(BlockRecord, frozen=True, kw_only=True, tag="if"):
    """``if condition:`` around prints."""


class GroupRecord(BlockRecord, frozen=True, kw_only=True, tag="group"):
    """``# region: title``."""


Item = (
    NodeRecord
    | NoGradRecord
    | EnableGradRecord
    | InferenceModeRecord
    | SetGradEnabledRecord
    | SetDetectAnomalyRecord
    | DetectAnomalyRecord
    | AutocastRecord
    | ForRecord
    | IfRecord
    | GroupRecord
)


class WireRecord(Record, frozen=True, kw_only=True):
    """Output `output` of the item `from` flows into the port `port` of the item `to`."""

    source: Id = msgspec.field(name="from")
    output: Count = 0
    target: Id = msgspec.field(name="to")
    port: Path


class TailRecord(Record, frozen=True, kw_only=True):
    """The comment after the last statement of the block `in`, or of the program."""

    inside: Id = msgspec.field(name="in", default="")
    text: Note


class TensorRecord(Record, frozen=True, kw_only=True):
    """Data stored beside the file; in a fragment the bytes themselves stand in `data` (base64)."""

    digest: Digest
    dtype: Path
    shape: list[Annotated[int, Meta(ge=0, le=2**62)]]
    source: Note = ""
    data: bytes | None = None


class PlaceRecord(Record, frozen=True, kw_only=True):
    """Where something stands on the canvas, scene pixels."""

    x: Pixel
    y: Pixel
    width: Annotated[float, Meta(gt=0, le=1e7)] | None = None
    collapsed: bool = False
    tucked: bool = False
    pinned: bool = False
    color: Annotated[str, Meta(max_length=40)] = ""
    boundary: bool = False
    chart: Annotated[str, Meta(max_length=40)] = ""


class BodyRecord(Record, frozen=True, kw_only=True):
    """Items in program order, the wires between them, and those that are drawn but muted."""

    items: list[Item] = []
    wires: list[WireRecord] = []
    muted_wires: list[WireRecord] = []
    tails: list[TailRecord] = []


class DefinitionRecord(BodyRecord, frozen=True, kw_only=True):
    """A sub-program that nodes ``group:<name>`` call, or (a module) construct.

    `settings` are the inputs that a module's constructor takes; `setup` the outermost statements of its
    ``__init__``, `kept` those nodes of them that are its attributes.
    """

    name: Name
    inputs: list[Name] = []
    outputs: list[Name] = []
    defaults: dict[Name, Literal] = {}
    module: bool = False
    settings: list[Name] = []
    setup: list[Id] = []
    kept: list[Id] = []
    note: Note = ""


class BookmarkRecord(Record, frozen=True, kw_only=True):
    """A place to come back to: as `zoom`, `x`, `y` of the view, and what was selected."""

    zoom: Annotated[float, Meta(gt=0, le=100)]
    x: Pixel
    y: Pixel
    name: Annotated[str, Meta(max_length=100, pattern=NO_CONTROL)] = ""
    items: list[Id] = []


class ViewRecord(Record, frozen=True, kw_only=True):
    """All that is only looks: places, by item, ``note:<item>`` or ``dot:<item>/<port>:<k>``, and what was shown."""

    zoom: Annotated[float, Meta(gt=0, le=100)] = 1.0
    x: Pixel = 0.0
    y: Pixel = 0.0
    bookmarks: dict[Annotated[str, Meta(pattern=r"^[1-9]$(?!\n)")], BookmarkRecord] = {}
    places: dict[PlaceKey, PlaceRecord] = {}
    definitions: dict[Name, dict[PlaceKey, PlaceRecord]] = {}


class ContentRecord(BodyRecord, frozen=True, kw_only=True):
    """What a file and a copied fragment have in common."""

    header: HeaderRecord = HeaderRecord()
    definitions: list[DefinitionRecord] = []
    tensors: list[TensorRecord] = []
    view: ViewRecord = ViewRecord()


class GraphFile(ContentRecord, frozen=True, kw_only=True):
    """A `.gsg` file; `original` has the lines of the Python text that it was read from."""

    format: OneOf["gradstudio-graph"]
    version: OneOf[1]
    original: Annotated[list[TextLine], Meta(max_length=MAX_LINES + 1)] = []


class OutsideRecord(WireRecord, frozen=True, kw_only=True):
    """A wire into a part from outside of it: what it came from, by id, by name, and of which operator."""

    name: Annotated[str, Meta(max_length=100)] = ""
    operator: Annotated[str, Meta(max_length=200)] = ""


class FragmentText(ContentRecord, frozen=True, kw_only=True):
    """A part of a program, as it travels through the clipboard."""

    format: OneOf["gradstudio-fragment"]
    version: OneOf[1]
    outside: list[OutsideRecord] = []
