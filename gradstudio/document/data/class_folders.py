"""The files of a folder of pictures: each of its folders is a class. Nothing is decoded here, no link is followed."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gradstudio.document.atomic_write import system_refusal
from gradstudio.document.data.model import Progress, Work
from gradstudio.document.errors import BadData

SUFFIXES = frozenset((".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".ppm", ".pgm", ".pbm"))
MOST_FILES = 20_000
MOST_CLASSES = 1_000
LARGEST_FILE = 20_000_000
LARGEST_FOLDER = 400_000_000
"""Bytes of all files; they are in memory while the dialog is open."""


class PictureFile(NamedTuple):
    """A file that is called a picture: its name within the folder, the number of its class, what it holds."""

    name: str
    label: int
    data: bytes


class PictureFiles(NamedTuple):
    """What was found.

    Attributes:
        left_out: what is not a picture, with why, in words.
    """

    name: str
    classes: tuple[str, ...]
    files: tuple[PictureFile, ...]
    left_out: tuple[str, ...]


def picture_files(folder: Path, most_classes: int = MOST_CLASSES, most: int = MOST_FILES) -> Work[PictureFiles]:
    """The pictures of a folder's folders, in the order of their names; or the first ones of them.

    Raises:
        BadData: there are none, or too many.
    """
    left_out: list[str] = []
    files: list[PictureFile] = []
    classes: list[str] = []
    size, done = 0, 0
    folders = _entries(folder)
    total = sum(len(_entries(Path(one.path))) for one in folders if one.is_dir(follow_symlinks=False))
    for entry in folders:
        if len(classes) == most_classes < MOST_CLASSES:
            break
        name = _shown(entry.name)
        if entry.is_symlink():
            left_out.append(f"{name} (a link, which is not followed)")
        elif not entry.is_dir(follow_symlinks=False):
            left_out.append(f"{name} (in no folder of a class)")
        else:
            count = len(files)
            for one in _pictures(Path(entry.path), len(classes), left_out, most):
                done += 1
                yield Progress("files", done, total)
                if one is None:
                    continue
                size += len(one.data)
                if size > LARGEST_FOLDER:
                    raise BadData(
                        f"The pictures have more than {LARGEST_FOLDER // 10**6} MB. Keep fewer, or smaller ones."
                    )
                files.append(one)
            classes += [name] if len(files) > count else []
        _check(folder, files, classes)
    if not files:
        raise BadData(
            f"No folder in '{_shown(folder.name)}' holds pictures. Choose the folder whose folders are the classes: "
            f"cats/1.png, dogs/1.png.{_listed(left_out)}"
        )
    return PictureFiles(_shown(folder.name), tuple(classes), tuple(files), tuple(left_out))


def _pictures(folder: Path, label: int, left_out: list[str], most: int) -> Iterator[PictureFile | None]:
    """Each of the first files; None of what is left out."""
    entries = _entries(folder)
    if len(entries) > MOST_FILES:
        raise BadData(f"'{_shown(folder.name)}' holds more than {MOST_FILES:,} files. Keep fewer.")
    for entry in entries[:most]:
        name = f"{_shown(folder.name)}/{_shown(entry.name)}"
        found = None
        try:
            data = _bytes_of(entry)
        except OSError as error:
            left_out.append(f"{name} ({system_refusal(error, Path(entry.path))})")
        except BadData as error:
            left_out.append(f"{name} ({error})")
        else:
            found = PictureFile(name, label, data)
        yield found


def _bytes_of(entry: "os.DirEntry[str]") -> bytes:
    """What a picture's file holds.

    Raises:
        BadData: it is none, with why in a few words.
        OSError: the system refuses it.
    """
    if entry.is_symlink():
        raise BadData("a link, which is not followed")
    if entry.is_dir(follow_symlinks=False):
        raise BadData("a folder within a class")
    if os.path.splitext(entry.name)[1].lower() not in SUFFIXES:
        raise BadData("not called a picture")
    # What was no link and no pipe when the folder was listed may be one now.
    handle = os.open(entry.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise BadData("not an ordinary file")
        if status.st_size > LARGEST_FILE:
            raise BadData(f"more than {LARGEST_FILE // 10**6} MB")
        data = file.read(LARGEST_FILE)
    if not data:
        raise BadData("empty")
    return data


def _entries(folder: Path) -> "list[os.DirEntry[str]]":
    """What stands in a folder by its names; hidden things and those that a desktop keeps there are none of it."""
    try:
        with os.scandir(folder) as found:
            entries = [one for one in found if not one.name.startswith(".") and one.name.lower() != "thumbs.db"]
    except (OSError, ValueError) as error:
        reason = system_refusal(error, folder) if isinstance(error, OSError) else str(error)
        raise BadData(f"'{_shown(folder.name)}' cannot be read: {reason}.") from error
    return sorted(entries, key=lambda one: one.name)


def _check(folder: Path, files: list[PictureFile], classes: list[str]) -> None:
    for count, most, words in ((len(files), MOST_FILES, "pictures"), (len(classes), MOST_CLASSES, "classes")):
        if count > most:
            raise BadData(f"'{_shown(folder.name)}' holds more than {most:,} {words}. Keep fewer.")


def _listed(left_out: list[str]) -> str:
    if not left_out:
        return ""
    return f" Left out: {', '.join(left_out[:4])}{' …' if len(left_out) > 4 else ''}."


def _shown(name: str) -> str:
    """A name that can be printed and kept: bytes that are no text become question marks."""
    return name.encode("utf-8", "replace").decode()
