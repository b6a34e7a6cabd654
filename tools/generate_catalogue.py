"""Writes `resources/catalogue/operators.json` from the installed torch and the hand-written selection.

python -m tools.generate_catalogue            writes the file
python -m tools.generate_catalogue --check    says whether it is up to date (exit 1 when not)
python -m tools.generate_catalogue --show KEY prints rows as signatures, to be looked at
"""

import argparse
import sys
from pathlib import Path

import msgspec
import torch

from gradstudio.operators.model import Operator
from tools.catalogue import generated, outs, selection
from tools.catalogue.build import build
from tools.catalogue.categories import ORDER

TARGET = Path(__file__).resolve().parent.parent / "resources" / "catalogue" / "operators.json"


def generate() -> str:
    """The text of the catalogue; the same torch and selection always give the same."""
    operators = rows()
    head = {
        "format": 1,
        "torch_version": torch.__version__.partition("+")[0],
        "categories": [name for name in ORDER if any(row.category == name for row in operators)],
    }
    lines = [msgspec.json.encode(head).decode()[:-1] + ',"operators":[']
    lines.append(",\n".join(msgspec.json.encode(operator).decode() for operator in operators))
    return "\n".join([*lines, "]}", ""])


def rows() -> list[Operator]:
    """Every row by category, what is seldom used last; of one path, the plain key first."""
    by_hand = selection.read()
    found = [*(build(row) for row in by_hand), *generated.rows(by_hand)]
    found = [msgspec.structs.replace(row, fills=outs.fills(row)) for row in found]
    places: dict[str, int] = {}
    for row in found:
        places.setdefault(row.path, len(places))
    return sorted(found, key=lambda r: (ORDER.index(r.category), r.rare, places[r.path], r.key != r.path))


def describe(operator: Operator) -> str:
    """An operator as one line: how it is called, what it gives, what it does."""
    parts = []
    for parameter in operator.parameters:
        star = "*" if parameter.variadic else ""
        text = f"{star}{parameter.name}: {parameter.kind}{'?' if parameter.nullable else ''}"
        text = f"[kw] {text}" if parameter.keyword_only else text
        parts.append(text if parameter.default is None else f"{text} = {parameter.default}")
    results = ", ".join(f"{result.name}:{result.family}" for result in operator.results)
    flags = [name for name in ("varying", "view", "cuts", "creates") if getattr(operator, name)]
    flags += [*operator.effects, *(f"writes {name}" for name in operator.writes)]
    tail = f" {operator.suggested}" if operator.suggested else ""
    return f"{operator.key} [{operator.face}] ({', '.join(parts)}) -> ({results}) {' '.join(flags)}{tail}"


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--show", metavar="KEY")
    options = parser.parse_args(arguments)
    if options.show is not None:
        for row in rows():
            if options.show in row.key:
                print(describe(row))
        return 0
    text = generate()
    if options.check:
        same = TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text
        print("up to date" if same else "out of date: run python -m tools.generate_catalogue")
        return 0 if same else 1
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET.name}: {text.count(chr(10)) - 2} operators, {len(text) // 1000} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
