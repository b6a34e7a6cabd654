"""A line of a docstring as spans: roles, literals, links, emphasis."""

import re
from collections.abc import Callable, Iterator, Mapping

from gradstudio.operators.docstrings import latex
from gradstudio.operators.docstrings.model import Span, Spans

Targets = Mapping[str, str]
"""Web addresses by the words that lead there."""
_PATTERN = re.compile(
    r"(?P<literal>``(?P<in_literal>.+?)``)"
    r"|(?P<role>:(?:py:|std:)?(?P<role_name>[a-z]+):\s?`(?P<in_role>[^`]+)`?)"
    r"|(?P<link>`(?P<in_link>[^`<]*?)\s*<(?P<url>[^`>]+)>`_{1,2})"
    r"|(?P<named>`(?P<in_named>[^`]+)`__?(?!\w))"
    r"|(?P<ticks>`(?P<in_ticks>[^`]+)`)"
    r"|(?P<strong>\*\*(?=\S)(?P<in_strong>.+?)(?<=\S)\*\*)"
    r"|(?P<emphasis>(?<![\w*\\])\*(?=[^\s*])(?P<in_emphasis>[^*]+?)(?<=[^\s\\])\*(?![\w*]))"
    r"|(?P<markdown>(?<!\w)\[(?P<in_markdown>[^\]]+)\]\((?P<markdown_url>https?://[^)\s]+)\))"
    r"|(?P<bare>https?://[^\s<>`]+)"
    r"|(?P<footnote>\[[\w#-]+\]_(?!\w))"
    r"|(?P<escape>\\(?P<in_escape>[\\*_`| ]))"
    r"|(?P<stray>``)",
    re.DOTALL,
)
_CODE_ROLES = frozenset({"attr", "code", "literal", "data", "envvar", "samp", "kbd", "file", "keyword"})
_PATH_ROLES = frozenset({"func", "meth", "class", "mod", "obj", "exc", "method", "function"})
_TITLED = re.compile(r"^(?P<title>.*?)\s*<(?P<target>[^<>]+)>$", re.DOTALL)


def spans(text: str, targets: Targets | None = None) -> Spans:
    """The spans of running text; line breaks count as spaces."""
    told: list[Span] = []
    for span in _spans(re.sub(r"\s+", " ", text), targets or {}):
        if told and (told[-1].marks, told[-1].target) == (span.marks, span.target) and not span.target:
            told[-1] = Span(told[-1].text + span.text, span.marks)
        elif span.text:
            told.append(span)
    return tuple(told)


def _spans(text: str, targets: Targets) -> Iterator[Span]:
    at = 0
    for found in _PATTERN.finditer(text):
        if found.start() > at:
            yield Span(text[at : found.start()])
        kind = next(name for name in _FOUND if found[name] is not None)
        yield from _FOUND[kind](found, targets)
        at = found.end()
    if at < len(text):
        yield Span(text[at:])


def _literal(found: re.Match[str], _targets: Targets) -> Iterator[Span]:
    yield Span(found["in_literal"].strip().replace("\\\\", "\\"), ("code",))


def _role(found: re.Match[str], _targets: Targets) -> Iterator[Span]:
    name, content = found["role_name"], found["in_role"].strip()
    if name == "math":
        yield from latex.inline(content)
        return
    titled = _TITLED.match(content)
    title, target = (titled["title"], titled["target"]) if titled else (content, content)
    if name in _PATH_ROLES:
        path = target.lstrip("~!").removesuffix("()").strip()
        if titled:
            shown = title
        elif title.startswith("~"):
            shown = title.rsplit(".", 1)[-1]
        else:
            shown = title.lstrip("!")
        yield Span(shown.lstrip("~"), ("code",), path)
    elif name in _CODE_ROLES:
        yield Span(title.lstrip("~"), ("code",))
    else:
        yield Span(title if titled else _words_of_label(title), ("emphasis",))


def _words_of_label(label: str) -> str:
    """The words of a label: broadcasting-semantics."""
    return re.sub(r"[-_]+", " ", label.rsplit("/", 1)[-1].removesuffix("-doc")).strip()


def _link(found: re.Match[str], targets: Targets) -> Iterator[Span]:
    url = found["url"].strip()
    url = targets.get(url.rstrip("_").lower(), url)
    yield Span(found["in_link"] or url, (), url if url.startswith("http") else "")


def _named(found: re.Match[str], targets: Targets) -> Iterator[Span]:
    yield Span(found["in_named"], (), targets.get(_key(found["in_named"]), ""))


def _ticks(found: re.Match[str], _targets: Targets) -> Iterator[Span]:
    titled = _TITLED.match(found["in_ticks"])
    if titled and titled["target"].startswith("http"):
        yield Span(titled["title"] or titled["target"], (), titled["target"])
    else:
        yield Span(found["in_ticks"], ("code",))


def _strong(found: re.Match[str], targets: Targets) -> Iterator[Span]:
    yield from (Span(span.text, ("strong", *span.marks), span.target) for span in spans(found["in_strong"], targets))


def _emphasis(found: re.Match[str], targets: Targets) -> Iterator[Span]:
    inner = spans(found["in_emphasis"], targets)
    yield from (Span(span.text, ("emphasis", *span.marks), span.target) for span in inner)


def _markdown(found: re.Match[str], _targets: Targets) -> Iterator[Span]:
    yield Span(found["in_markdown"], (), found["markdown_url"])


def _bare(found: re.Match[str], _targets: Targets) -> Iterator[Span]:
    url = found["bare"].rstrip(".,;:)'\"")
    yield Span(url, (), url)
    yield Span(found["bare"][len(url) :])


def _footnote(found: re.Match[str], _targets: Targets) -> Iterator[Span]:
    yield Span(found["footnote"].rstrip("_"))


def _escape(found: re.Match[str], _targets: Targets) -> Iterator[Span]:
    yield Span(found["in_escape"].strip())


def _nothing(_found: re.Match[str], _targets: Targets) -> Iterator[Span]:
    """Ticks that nobody closed."""
    yield from ()


def _key(words: str) -> str:
    return re.sub(r"\s+", " ", words).strip().lower()


_FOUND: dict[str, Callable[[re.Match[str], Targets], Iterator[Span]]] = {
    "literal": _literal,
    "role": _role,
    "link": _link,
    "named": _named,
    "ticks": _ticks,
    "strong": _strong,
    "emphasis": _emphasis,
    "markdown": _markdown,
    "bare": _bare,
    "footnote": _footnote,
    "escape": _escape,
    "stray": _nothing,
}
