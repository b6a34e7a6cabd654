"""The checks of the house: folders, classes with their bases, circles of imports, names, and that the pages are true.

`python -m tools.house` prints what falls short; `python -m tools.house --write` writes the list of folders into
docs/architecture.md anew.
"""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tools.broken_imports import broken_imports
from tools.unused_functions import unused_functions

ROOT = Path(__file__).resolve().parent.parent
MODULES_A_FOLDER = 20
CLASS_LINES = 400
CLASS_METHODS = 40
QT = ("PySide6", "shiboken6", "pyqtgraph")
PARTICIPLES = frozenset(
    "told made given known found plain worn quiet wanted held kept joined settled taken shown said read_on left listed "
    "marked carried emptied folded brought booked moulded dropped placed printed spoken".split()
)
"""Names that say that something was done, and not what there is or what is done."""
ELSEWHERE = re.compile(r"\b(?:SEMANTICS|STYLE) \d")
"""How sections of pages were named that are not in the repository."""
REFERENCE = re.compile(r"semantics §(\d+)")
PATH_IN_A_PAGE = re.compile(r"`((?:gradstudio|tools|tests|docs|benchmarks|resources|examples)/[\w./-]+\w)/?`")
HEADING = re.compile(r"^## (\d+)\. ", re.MULTILINE)
DOTTED = re.compile(r"`([a-z]\w*(?:\.\w+)+)`")
"""A dotted name as a page writes it."""
BEGIN, END = "<!-- folders: written by python -m tools.house --write -->", "<!-- end of folders -->"
IMPORTED_AS = {"PySide6-Essentials": "PySide6"}
ONLY_BY_TOOLS = frozenset(
    "pytest pytest-qt pytest-timeout pytest-xdist ruff mypy import-linter types-psutil build hatchling "
    "expecttest".split()
)
"""Packages that are started or loaded by name instead of imported."""


@dataclass(frozen=True)
class Class:
    """A class of the project as its text says it."""

    name: str
    path: Path
    lines: int
    methods: frozenset[str]
    bases: tuple[str, ...]
    declares_host: bool


class House:
    """The files of the project, read once."""

    def __init__(self, root: Path) -> None:
        """Read `gradstudio/` below `root`."""
        self.root = root
        self.files = sorted((root / "gradstudio").rglob("*.py"))
        self.trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in self.files}
        self.paths = {self.module_of(path): path for path in self.files}

    def module_of(self, path: Path) -> str:
        """The dotted name of a file."""
        return ".".join(path.relative_to(self.root).with_suffix("").parts).removesuffix(".__init__")

    def short(self, path: Path) -> str:
        """A path as a message names it."""
        return path.relative_to(self.root).as_posix()

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """What each module imports of the project, for types too: a reader follows these as well."""
        return {
            module: {name for name in self._imported(self.trees[path]) if name != module}
            for module, path in self.paths.items()
        }

    def _imported(self, tree: ast.Module) -> Iterator[str]:
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in self.paths:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    yield whole if whole in self.paths else node.module
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in self.paths)

    @cached_property
    def classes(self) -> dict[str, list[Class]]:
        """Every class by its name."""
        found = defaultdict(list)
        for path, tree in self.trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(_class(node, path))
        return found


def _class(node: ast.ClassDef, path: Path) -> Class:
    methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)}
    bases = tuple(ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases)
    hosts = any(isinstance(part, ast.If) and "TYPE_CHECKING" in ast.unparse(part.test) for part in node.body)
    return Class(node.name, path, (node.end_lineno or 0) - node.lineno + 1, frozenset(methods), bases, hosts)


def main(root: Path = ROOT, arguments: Iterable[str] = ()) -> int:
    """Print what falls short, or write the list of folders; 1 when something does."""
    house = House(root)
    if "--write" in arguments:
        write_folders(house)
        return 0
    bad = [line for check in CHECKS for line in check(house)]
    for line in bad:
        print(line)
    print(f"{len(bad)} things against the house; {len(house.files)} files")
    return 1 if bad else 0


# ------------------------------------------------------------------ rooms and classes


def full_folders(house: House) -> Iterator[str]:
    """Folders with more modules than a reader takes in at once."""
    counts: dict[Path, int] = defaultdict(int)
    for path in house.files:
        counts[path.parent] += path.name != "__init__.py"
    for folder, count in counts.items():
        if count > MODULES_A_FOLDER:
            yield f"{house.short(folder)}: {count} modules, {MODULES_A_FOLDER} at most"


def large_classes(house: House) -> Iterator[str]:
    """Classes that are too large with the bases that the project has, and those in pieces."""
    for classes in house.classes.values():
        for one in classes:
            if one.declares_host:
                yield f"{house.short(one.path)}: {one.name} declares its host: give it what it needs"
    for name in house.classes:
        parts = _with_bases(house, name)
        lines = sum(part.lines for part in parts)
        methods = len(frozenset().union(*(part.methods for part in parts)))
        if lines > CLASS_LINES or methods > CLASS_METHODS:
            yield f"class {name} with its bases: {lines} lines, {methods} methods"


def _with_bases(house: House, name: str) -> list[Class]:
    found: dict[str, Class] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one not in found and one in house.classes:
            found[one] = max(house.classes[one], key=lambda candidate: candidate.lines)
            waiting.extend(found[one].bases)
    return list(found.values())


def circles(house: House) -> Iterator[str]:
    """Modules that import each other, over whatever way."""
    import networkx

    graph = networkx.DiGraph(house.imports)
    for ring in networkx.strongly_connected_components(graph):
        if len(ring) > 1:
            yield f"circle of {len(ring)} modules: {', '.join(sorted(ring)[:4])}"


def qt_where_none_is_promised(house: House) -> Iterator[str]:
    """Modules that say "No Qt" and load it, themselves or by what they import."""
    loads = {module for module, path in house.paths.items() if _loads_qt(house.trees[path])}
    for module, path in house.paths.items():
        says = "No Qt" in (ast.get_docstring(house.trees[path]) or "")
        if says and (reached := _reachable(house.imports, module) & loads):
            yield f"{house.short(path)} says «No Qt» and loads it by {sorted(reached)[0]}"


def _loads_qt(tree: ast.Module) -> bool:
    names = (node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return any(name.split(".")[0] in QT for name in names)


def _reachable(imports: dict[str, set[str]], module: str) -> set[str]:
    seen, waiting = {module}, [module]
    while waiting:
        for name in imports[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    return seen


# ------------------------------------------------------------------ names


def participles(house: House) -> Iterator[str]:
    """Public functions and modules that are called by a bare participle."""
    for path, tree in house.trees.items():
        if path.stem in PARTICIPLES:
            yield f"{house.short(path)}: a participle is no name"
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name in PARTICIPLES:
                yield f"{house.short(path)}:{node.lineno} {node.name}(): a participle is no name"


def names_in_several_rooms(house: House) -> Iterator[str]:
    """Module names that stand in several rooms and not in the glossary."""
    page = (house.root / "docs" / "glossary.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    rooms: dict[str, set[str]] = defaultdict(set)
    for path in house.files:
        if not path.stem.startswith("__"):
            rooms[path.stem].add(path.relative_to(house.root).parts[1])
    for name, where in sorted(rooms.items()):
        if len(where) > 1 and name not in listed:
            yield f"'{name}' is a module in {', '.join(sorted(where))}: docs/glossary.md does not say what it means"


def patches_of_our_own(house: House) -> Iterator[str]:
    """Tests that put another function in place of one of ours."""
    pattern = re.compile(r"setattr\(\s*[\"']gradstudio\.[\w.]+\.([a-z]\w*)[\"']|patch\([\"']gradstudio\.")
    for path in sorted((house.root / "tests").rglob("*.py")):
        if path.name == "test_house.py":
            continue  # holds such a line, to see that it is found
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if pattern.search(line):
                yield f"{house.short(path)}:{number} patches a function of ours"


# ------------------------------------------------------------------ what the pages say


def references(house: House) -> Iterator[str]:
    """References to sections that docs/semantics.md does not have."""
    sections = set(HEADING.findall((house.root / "docs" / "semantics.md").read_text(encoding="utf-8")))
    for folder in ("gradstudio", "tests", "tools", "benchmarks"):
        for path in sorted((house.root / folder).rglob("*.py")):
            if ELSEWHERE.search(path.read_text(encoding="utf-8")) and path.name != "test_house.py":
                yield f"{house.short(path)}: refers to a page that is not in the repository"
            for section in REFERENCE.findall(path.read_text(encoding="utf-8")):
                if section not in sections:
                    yield f"{house.short(path)}: docs/semantics.md has no §{section}"


def paths_in_pages(house: House) -> Iterator[str]:
    """Paths that a page names and that are not there."""
    pages = [*house.root.glob("*.md"), *house.root.glob("docs/*.md"), *(house.root / "gradstudio").rglob("*.md")]
    for page in sorted(pages):
        if page.name == "CHANGELOG.md":
            continue  # tells what was
        for path in PATH_IN_A_PAGE.findall(page.read_text(encoding="utf-8")):
            if not (house.root / path).exists() and not (house.root / f"{path}.py").exists():
                yield f"{house.short(page)} names {path}, which is not there"


def names_in_pages(house: House) -> Iterator[str]:
    """Dotted names of rooms that a page names, and that are neither a module nor in one."""
    rooms = {path.parent.name for path in house.files if path.parent.parent == house.root / "gradstudio"}
    for page in sorted([*house.root.glob("*.md"), *house.root.glob("docs/*.md")]):
        if page.name == "CHANGELOG.md":
            continue  # tells what was
        for name in DOTTED.findall(page.read_text(encoding="utf-8")):
            whole = name.removeprefix("gradstudio.")
            if whole.split(".")[0] in rooms and not _is_name(house, f"gradstudio.{whole}"):
                yield f"{house.short(page)} names {name}, which is no module and in none"


def _is_name(house: House, whole: str) -> bool:
    """Whether that is a module, or a name that one binds: of a class, a name in its body."""
    module = whole
    while module not in house.paths:
        module = module.rpartition(".")[0]
    body = house.trees[house.paths[module]].body
    for part in whole.removeprefix(module).split(".")[1:]:
        found = [node for node in body if part in _bound(node)]
        if not found:
            return False
        body = found[0].body if isinstance(found[0], ast.ClassDef) else []
    return True


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement binds by itself."""
    match node:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return {node.name}
        case ast.Assign() | ast.AnnAssign():
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return set()


def unused_names(house: House) -> Iterator[str]:
    """Functions of ours that nothing in `gradstudio/` names."""
    for path, function in unused_functions(house.trees):
        yield f"{house.short(path)}:{function.lineno} {function.name}(): nobody in gradstudio names it"


def imports_of_nothing(house: House) -> Iterator[str]:
    """Imports in tests and tools that lead nowhere: these files are not type-checked."""
    for path, line, name in broken_imports(house.root, house.trees):
        yield f"{house.short(path)}:{line} imports {name}, which is not there"


def unused_dependencies(house: House) -> Iterator[str]:
    """Packages that are declared and imported nowhere."""
    project = tomllib.loads((house.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {*project["dependencies"], *project["optional-dependencies"]["test"]}
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("gradstudio", "tests", "tools", "benchmarks")
        for path in (house.root / folder).rglob("*.py")
    )
    for requirement in sorted(declared):
        package = re.split(r"[<>=!~\[ ]", requirement)[0]
        module = IMPORTED_AS.get(package, package).replace("-", "_")
        if package not in ONLY_BY_TOOLS and not re.search(
            rf"^\s*(?:import|from) {module}\b|\"{module}\"", text, re.MULTILINE
        ):
            yield f"{package} is declared and imported nowhere"


def folders(house: House) -> str:
    """Every folder with its package's docstring, as the table of docs/architecture.md."""
    rows = ["| folder | what lives there |", "|---|---|"]
    for path in house.files:
        if path.name == "__init__.py" and path.parent != house.root / "gradstudio":
            subject = " ".join((ast.get_docstring(house.trees[path]) or "").split())
            rows.append(f"| `{house.short(path.parent).removeprefix('gradstudio/')}/` | {subject} |")
    return "\n".join(rows)


def stale_folders(house: House) -> Iterator[str]:
    """The list of folders in docs/architecture.md, where it is not as it would be written."""
    page = (house.root / "docs" / "architecture.md").read_text(encoding="utf-8")
    if f"{BEGIN}\n{folders(house)}\n{END}" not in page:
        yield "docs/architecture.md: the list of folders is not that of the packages: python -m tools.house --write"


def write_folders(house: House) -> None:
    """Write the list of folders between its two marks."""
    page = house.root / "docs" / "architecture.md"
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n{folders(house)}\n{END}{after}", encoding="utf-8")


CHECKS = (
    full_folders,
    large_classes,
    circles,
    qt_where_none_is_promised,
    participles,
    names_in_several_rooms,
    patches_of_our_own,
    references,
    paths_in_pages,
    names_in_pages,
    unused_names,
    imports_of_nothing,
    unused_dependencies,
    stale_folders,
)

if __name__ == "__main__":
    sys.exit(main(ROOT, sys.argv[1:]))
