"""A document inside its picture: a text chunk of a PNG, which every viewer passes over. No Qt here.

Chunks as in the PNG Specification (Third Edition), 5.3 and 11.3.3.4 (iTXt).
"""

import binascii
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from gradstudio.document.errors import CannotOpen, TooLargeToEmbed, UnreadableFile
from gradstudio.document.file import View, loads_with_view
from gradstudio.document.gsg.file_records import FORMAT
from gradstudio.document.gsg.gsg_reader import LARGEST_TEXT
from gradstudio.graph.model import Graph
from gradstudio.layout.tidy import layout_missing

SUFFIX = ".png"
KEYWORD = b"gradstudio-graph"
LARGEST_EMBEDDED = 1_000_000
"""Bytes of text: Pillow, and what is built on it, does not open a picture with more than 1 MiB in a chunk."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LARGEST_PICTURE = 512 * 2**20
_COMPRESSED = b"\x00\x01\x00\x00\x00"
"""End of the keyword, compressed, by zlib; no language, no translated keyword."""


def embed_graph(png: bytes, graph: Graph, view: View | None = None) -> bytes:
    """The picture with the whole document in it, stored tensors too; an older one in it is replaced.

    Raises:
        ValueError: the bytes are no PNG.
        TooLargeToEmbed: the text is longer than `LARGEST_EMBEDDED`.
    """
    from gradstudio.document.gsg.gsg_writer import write

    seen = view or View()
    place = {"zoom": seen.zoom, "x": seen.x, "y": seen.y}
    text = write(graph, FORMAT, place, with_data=True, bookmarks=seen.bookmarks)
    data = text.encode()
    if len(data) > LARGEST_EMBEDDED:
        raise TooLargeToEmbed(f"its text is {len(data) / 1e6:.1f} MB, and many programs open no picture with so much")
    own = _chunk(b"iTXt", KEYWORD + _COMPRESSED + zlib.compress(data, 9))
    parts = [_SIGNATURE]
    for kind, data in _chunks(png):
        if kind == b"IEND":
            parts.append(own)
        if not _is_ours(kind, data):
            parts.append(_chunk(kind, data))
    return b"".join(parts)


def load_picture(path: Path) -> tuple[Graph, View]:
    """The document in a picture, and what the window showed.

    Raises:
        UnreadableFile: it holds none, or one that cannot be read; with the reason in words.
    """
    try:
        if path.stat().st_size > _LARGEST_PICTURE:
            raise CannotOpen(f"'{path}' is larger than {_LARGEST_PICTURE // 2**20} MiB")
        png = path.read_bytes()
    except OSError as error:
        raise CannotOpen(f"'{path}' cannot be read: {error.strerror or error}") from error
    graph, view = loads_with_view(_text_in(png))
    graph.places = layout_missing(graph)
    return graph, view


def _text_in(png: bytes) -> str:
    try:
        found = next((data for kind, data in _chunks(png) if _is_ours(kind, data)), None)
    except ValueError as error:
        raise UnreadableFile(f"this is no whole PNG picture: {error}") from error
    if found is None:
        raise UnreadableFile(
            "there is no graph in this picture: only a PNG that GradStudio exported holds one, "
            "and programs that send pictures may take it out"
        )
    packed = found[len(KEYWORD) + len(_COMPRESSED) :]
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(packed, LARGEST_TEXT + 1)
        if len(text) > LARGEST_TEXT:
            raise UnreadableFile(f"its text is larger than {LARGEST_TEXT // 2**20} MiB")
        return text.decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise UnreadableFile(f"the graph in this picture is damaged: {error}") from error


def _is_ours(kind: bytes, data: bytes) -> bool:
    return kind == b"iTXt" and data.startswith(KEYWORD + _COMPRESSED)


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Type and data of each chunk, up to and with the last."""
    if not png.startswith(_SIGNATURE):
        raise ValueError("it does not begin as one")
    at, kind = len(_SIGNATURE), b""
    while kind != b"IEND":
        if at + 12 > len(png):
            raise ValueError("it is cut off")
        (length,) = struct.unpack_from(">I", png, at)
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        if at + 12 + length > len(png):
            raise ValueError("it is cut off")
        at += 12 + length
        yield kind, data


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", binascii.crc32(kind + data))
