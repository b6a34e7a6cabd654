"""Blocks of a docstring as the rich text that Qt shows: tables where other browsers have boxes."""

import re
from html import escape
from typing import NamedTuple, assert_never

from gradstudio.operators.catalogue import descriptions
from gradstudio.operators.docstrings import model as m
from gradstudio.operators.model import Face, Operator, Parameter
from gradstudio.ui.docks.documentation.code_html import code_html, without_directions
from gradstudio.ui.docks.documentation.page_links import operator_at
from gradstudio.ui.theme import Theme

INDENT_PX = 14
KEPT_WHOLE = 24
"""An argument of so many letters and its default are never broken."""
BREAK = "\u200b"
"""A place where a line may be broken; never copied."""
_LETTER = re.compile(r"(?<![^\W\d_&])[A-Za-z](?![^\W\d_])(?![^<]*>)")
"""A letter by itself: a variable of a formula."""
_TAGS = {"strong": "b", "emphasis": "i", "sub": "sub", "sup": "sup"}


class Page(NamedTuple):
    """A page as it is shown.

    Attributes:
        codes: what the links ``copy:0``, ``copy:1``, ... put on the clipboard.
    """

    html: str
    codes: tuple[str, ...]


class Writer:
    """Writes blocks; keeps the code that may be copied.

    Attributes:
        codes: the text of every example written so far.
        described_names: names of arguments that were described so far.
    """

    def __init__(self, theme: Theme, operator: Operator | None = None, home: str = "") -> None:
        """`operator`: whose arguments are described; `home`: the path of the docstring that is written."""
        self._theme, self._operator, self.home = theme, operator, home
        self.codes: list[str] = []
        self.described_names: set[str] = set()

    def blocks(self, blocks: tuple[m.Block, ...]) -> str:
        """Some blocks, under one another."""
        return "".join(self.block(block) for block in blocks)

    def block(self, block: m.Block) -> str:
        """One block."""
        match block:
            case m.Paragraph(spans=spans):
                return f"<p>{self.spans(spans)}</p>"
            case m.Heading(spans=spans):
                return self.heading(self.spans(spans))
            case m.Signature(text=text):
                return self.signature(text)
            case m.Listing():
                return self._listing(block)
            case m.Definition(term=term, blocks=inner):
                return f"<p class='term'>{self.spans(term)}</p>{self.indented(self.blocks(inner))}"
            case m.Fields():
                return self.heading(escape(block.title)) + "".join(self.field(each) for each in block.fields)
            case m.Code(text=text, python=python):
                return self.code(text, python=python)
            case m.Formula(lines=lines):
                formula = "<br>".join(self.spans(line) for line in lines)
                return self.indented(f"<p class='formula'>{formula}</p>", "margin-top:6px; margin-bottom:8px")
            case m.Box():
                return self.box(block.kind, block.title, self.blocks(block.blocks))
            case m.Table():
                return self._table(block)
            case m.Quote(blocks=inner):
                return self.indented(self.blocks(inner))
            case _:
                assert_never(block)

    # ------------------------------------------------------------------ lines

    def spans(self, spans: m.Spans) -> str:
        """A line."""
        return "".join(self._span(span) for span in spans)

    def _span(self, span: m.Span) -> str:
        text = escape(span.text, quote=False).replace("\u2003", "&nbsp;" * 4).replace("\u2002", "&nbsp;" * 2)
        key = operator_at(span.target, self.home) if span.target and not span.target.startswith("http") else ""
        for mark in reversed(span.marks):
            text = self._marked(text, mark, bool(key))
        if span.target.startswith("http"):
            return f"<a href='{escape(span.target)}' title='{escape(span.target)}'>{text}</a>"
        return f"<a href='operator:{escape(key)}' title='{escape(key)}'>{text}</a>" if key else text

    def _marked(self, text: str, mark: str, links: bool) -> str:
        if mark in _TAGS:
            return f"<{_TAGS[mark]}>{text}</{_TAGS[mark]}>"
        if mark == "math":
            return _LETTER.sub(r"<i>\g<0></i>", text)
        color = f" style='color:{self._theme.accent}'" if links else ""  # Qt knows no rule for code within links
        return f"<span class='{mark}'{color}>{text}</span>"

    def heading(self, html: str) -> str:
        """The title of a section."""
        return f"<p class='heading'>{html}</p>"

    # ------------------------------------------------------------------ shapes

    def indented(self, html: str, style: str = "") -> str:
        """Further in."""
        cell = f"<td width='{INDENT_PX}'></td><td>{html}</td>"
        opening = f"<table width='100%' cellspacing='0' cellpadding='0' style='{style}'>"
        return f"{opening}<tr>{cell}</tr></table>" if html else ""

    def box(self, kind: str, title: str, html: str) -> str:
        """A note or a warning: a bar in its colour, and its words on another ground."""
        color = self._theme.color("warning" if kind == "warning" else "info").name()
        ground = self._theme.surface_raised
        head = f"<p class='box' style='color:{color}'>{escape(title)}</p>" if title else ""
        return (
            "<table width='100%' cellspacing='0' cellpadding='0' style='margin-top:4px; margin-bottom:10px'><tr>"
            f"<td width='3' bgcolor='{color}'></td><td bgcolor='{ground}' style='padding:7px 10px 1px 10px'>"
            f"{head}{html}</td></tr></table>"
        )

    def code(self, text: str, *, python: bool = True, copies: bool = True) -> str:
        """Code that keeps its lines, with a button that copies it."""
        shown = without_directions(text).strip("\n")
        self.codes.append(shown)
        link = f"<a href='copy:{len(self.codes) - 1}' title='Copy the code'><img src='icon:copy'></a>" if copies else ""
        copy = f"<td valign='top' width='16' style='padding:7px 7px 0 0'>{link}</td>" if copies else ""
        return (
            f"<table width='100%' cellspacing='0' cellpadding='0' bgcolor='{self._theme.field}'"
            " style='margin-top:4px; margin-bottom:10px'><tr>"
            f"<td style='padding:7px 4px 7px 10px'><pre>{code_html(shown, self._theme, python=python)}</pre></td>{copy}"
            "</tr></table>"
        )

    def signature(self, text: str) -> str:
        """A way of calling, as code that may be broken behind a comma."""
        return self.code(breakable(text), copies=False)

    def call(self, path: str, arguments: tuple[tuple[str, str], ...]) -> str:
        """A long way of calling: an argument a line, and beside it what it takes."""
        rows = [f"<tr><td colspan='3'><pre>{self._code(breakable(f'{path}('))}</pre></td></tr>"]
        for text, kind in arguments:
            whole = " style='white-space:pre'" if len(text) <= KEPT_WHOLE else ""
            code = f"<td style='padding-right:10px'><pre{whole}>{self._code(text)},</pre></td>"
            takes = f"<td class='kind' style='padding-top:2px'>{escape(kind)}</td>"
            rows.append(f"<tr><td width='{INDENT_PX}'></td>{code}{takes}</tr>")
        rows.append("<tr><td colspan='3'><pre>)</pre></td></tr>")
        return (
            f"<table width='100%' cellspacing='0' cellpadding='0' bgcolor='{self._theme.field}'"
            " style='margin-top:4px; margin-bottom:10px'><tr><td style='padding:7px 8px 7px 10px'>"
            f"<table width='100%' cellspacing='0' cellpadding='1'>{''.join(rows)}</table></td></tr></table>"
        )

    def _code(self, text: str) -> str:
        return code_html(text, self._theme)

    def _listing(self, block: m.Listing) -> str:
        rows = []
        for k, item in enumerate(block.items, start=1):
            mark = f"{k}." if block.numbered else "•"
            rows.append(f"<tr><td width='16' class='mark'>{mark}</td><td>{self.blocks(item)}</td></tr>")
        return f"<table width='100%' cellspacing='0' cellpadding='0' style='margin-top:5px'>{''.join(rows)}</table>"

    def _table(self, block: m.Table) -> str:
        rows = []
        for k, row in enumerate(block.rows):
            tag = "th" if k < block.heads else "td"
            cells = "".join(f"<{tag} align='left' style='padding:4px 8px'>{self.spans(cell)}</{tag}>" for cell in row)
            rows.append(f"<tr>{cells}</tr>")
        return (
            f"<table cellspacing='0' cellpadding='0' border='1' style='border-collapse:collapse; border-style:solid;"
            f" border-color:{self._theme.line}; margin-top:6px; margin-bottom:10px'>{''.join(rows)}</table>"
        )

    # ------------------------------------------------------------------ arguments

    def field(self, field: m.Field) -> str:
        """An argument: its name, its type in torch's words, what it takes here, and what torch says of it."""
        operator = self._operator
        parameters = [parameter_called(operator, name) for name in field.names] if operator is not None else []
        known = next((each for each in parameters if each is not None), None)
        self.described_names |= {each.name for each in parameters if each is not None}
        kind = self.spans(field.takes)
        names = ", ".join(field.names)
        default = f" = {known.default}" if known is not None and known.default is not None else ""
        takes = descriptions.parameter_text(known) if known is not None else ""
        return self.argument(names, default, takes, kind, self.blocks(field.blocks))

    def argument(self, names: str, default: str, takes: str, kind: str, html: str) -> str:
        """The lines of an argument."""
        of_kind = f" &nbsp;<span class='dim'>{kind}</span>" if kind else ""
        head = f"<span class='name'>{escape(names)}</span><span class='default'>{escape(default)}</span>{of_kind}"
        facts_line = f"<p class='takes'>{escape(takes)}</p>" if takes else ""
        return f"<p class='argument'>{head}</p>{self.indented(facts_line + html)}"


def breakable(call: str) -> str:
    """A call with places where a narrow page may break it: behind the bracket, and behind the dots of its path."""
    path, bracket, rest = call.partition("(")
    return f"{path.replace('.', '.' + BREAK)}{bracket}{BREAK}{rest}" if bracket else call


def parameter_called(operator: Operator, name: str) -> Parameter | None:
    """The parameter that torch calls so; the receiver of a method is the "input" of its function."""
    found = operator.parameter(name.lstrip("*"))
    if found is None and name == "input" and operator.face == Face.METHOD:
        return operator.parameters[0]
    return found
