"""The page of an operator: what the catalogue knows, and below it what torch says."""

from html import escape

from gradstudio.operators.catalogue import block_rows, descriptions
from gradstudio.operators.docstrings.excerpts import fields
from gradstudio.operators.docstrings.model import Docstring, Paragraph
from gradstudio.operators.model import Operator, Parameter
from gradstudio.protocol.messages.torch_docs import Described
from gradstudio.ui.docks.documentation.docstring_html import Page, Writer, parameter_called
from gradstudio.ui.docks.documentation.page_links import operator_at, web_address
from gradstudio.ui.theme import Theme, mono_font
from gradstudio.ui.widgets.operator_signature import summary_html

ONE_LINE = 44
"""A signature of more letters is broken: the dock is narrow."""


def page(
    operator: Operator, described: Described | None, read: tuple[Docstring, ...], waiting: str, theme: Theme
) -> Page:
    """The whole page; while torch has not answered, what the catalogue knows, and why there is no more."""
    writer = Writer(theme, operator, operator.path)
    parts = [_head(operator, theme), _signature(operator, writer), _badges(operator, theme)]
    if described is None:
        parts += [f"<p>{summary_html(operator.summary)}</p>", writer.box("note", "", f"<p>{escape(waiting)}</p>")]
    elif described.error:
        parts += [
            f"<p>{summary_html(operator.summary)}</p>",
            writer.box("note", "", f"<p>{escape(described.error)}</p>"),
        ]
    elif not any(isinstance(block, Paragraph) for docstring in read[:1] for block in docstring.blocks):
        parts.append(f"<p>{summary_html(operator.summary)}</p>")
    arguments = _arguments(operator, frozenset(), writer) if not _documented(operator, read) else ""
    for k, docstring in enumerate(read):
        passage = described.passages[k] if described is not None else None
        if passage is not None and k and passage.source:
            parts.append(_source(passage.source, theme))
        writer.home = passage.source if passage is not None and passage.source else operator.path
        parts += [writer.blocks(docstring.blocks), arguments if k == 0 else ""]
    parts.append(arguments if not read else "")
    if writer.described_names:
        parts.append(_arguments(operator, frozenset(writer.described_names), writer))
    parts.append(_foot(operator, described))
    return Page("".join(part for part in parts if part), tuple(writer.codes))


def style_sheet(theme: Theme) -> str:
    """The looks of a page's classes in a theme."""
    mono = ", ".join(f"'{family}'" for family in mono_font().families())
    return f"""
    p {{ margin: 0 0 8px 0; line-height: 112%; }}
    pre {{ margin: 0; font-family: {mono}; font-size: 12px; white-space: pre-wrap; line-height: 106%; }}
    a {{ color: {theme.accent}; text-decoration: none; }}
    .title {{ font-size: 18px; font-weight: 600; margin: 0 0 1px 0; line-height: 110%; }}
    .path {{ font-family: {mono}; font-size: 11px; color: {theme.text_dim}; margin: 0 0 8px 0; }}
    .heading {{ font-size: 14px; font-weight: 600; margin: 14px 0 5px 0; }}
    .box {{ font-weight: 600; margin: 0 0 3px 0; }}
    .source {{ color: {theme.text_dim}; margin: 16px 0 6px 0; }}
    .term {{ margin: 4px 0 2px 0; }}
    .code {{ font-family: {mono}; font-size: 12px; color: {theme.syntax.string}; }}
    .formula {{ margin: 0; line-height: 125%; }}
    .argument {{ margin: 5px 0 1px 0; }}
    .name {{ font-family: {mono}; font-size: 12px; font-weight: 600; color: {theme.syntax.call}; }}
    .default {{ font-family: {mono}; font-size: 12px; color: {theme.text_dim}; }}
    .takes {{ color: {theme.text_dim}; font-size: 12px; margin: 0 0 2px 0; }}
    .gives {{ color: {theme.text_dim}; font-size: 12px; margin: 0 0 8px 0; }}
    .kind {{ font-size: 11px; color: {theme.text_dim}; }}
    .dim {{ color: {theme.text_dim}; }}
    .mark {{ color: {theme.text_dim}; }}
    .badge {{ font-weight: 600; color: {theme.warning}; }}
    """


def _documented(operator: Operator, read: tuple[Docstring, ...]) -> bool:
    """Whether torch describes an argument of the operator somewhere."""
    named = {name for docstring in read for field in fields(docstring.blocks) for name in field.names}
    return any(parameter_called(operator, name) is not None for name in named)


def _head(operator: Operator, theme: Theme) -> str:
    mark = theme.category_mark(operator.category).name()
    category = escape(operator.category).replace(" ", "&nbsp;")
    where = f"{escape(operator.path)} &nbsp;·&nbsp; <span style='color:{mark}'>■</span>&nbsp;{category}"
    return f"<p class='title'>{escape(operator.title)}</p><p class='path'>{where}</p>"


def _signature(operator: Operator, writer: Writer) -> str:
    """How one writes it: in a line, or where that is long an argument a line, with what it takes."""
    lines = descriptions.call_lines(operator)
    whole = descriptions.signature(operator, len(operator.parameters))
    is_long = bool(lines) and len(whole) > ONE_LINE
    written = writer.call(whole.partition("(")[0], lines) if is_long else writer.signature(whole)
    if operator.category == block_rows.CATEGORY:
        return written
    return f"{written}<p class='gives'>gives {escape(descriptions.results(operator))}</p>"


def _badges(operator: Operator, theme: Theme) -> str:
    told = descriptions.badges(operator)
    lines = [f"<span class='badge'>{escape(word)}</span> &nbsp;{escape(sentence)}" for word, sentence in told]
    return f"<p>{'<br>'.join(lines)}</p>" if lines else ""


def _arguments(operator: Operator, told: frozenset[str], writer: Writer) -> str:
    """The arguments that the docstring does not describe, as the catalogue knows them."""
    rest = [parameter for parameter in operator.parameters if parameter.name not in told]
    if not rest:
        return ""
    lines = [_argument(parameter, writer) for parameter in rest]
    return writer.heading("Further arguments" if told else "Arguments") + "".join(lines)


def _argument(parameter: Parameter, writer: Writer) -> str:
    name = f"*{parameter.name}" if parameter.variadic else parameter.name
    default = f" = {parameter.default}" if parameter.default is not None else ""
    hint = f"<p>{escape(parameter.hint)}</p>" if parameter.hint else ""
    return writer.argument(name, default, descriptions.parameter_text(parameter), "", hint)


def _source(path: str, theme: Theme) -> str:
    """A line above the docstring that the one before refers to."""
    key = operator_at(path)
    name = f"<a href='operator:{escape(key)}'>{escape(path)}</a>" if key else escape(path)
    return f"<hr style='background-color:{theme.line}'><p class='source'>From <span class='code'>{name}</span></p>"


def _foot(operator: Operator, described: Described | None) -> str:
    address = web_address(operator)
    version = f"torch {escape(described.torch)}" if described is not None and described.torch else ""
    link = f"<a href='{escape(address)}' title='{escape(address)}'>Open on the web</a>" if address else ""
    told = " &nbsp;·&nbsp; ".join(part for part in (version, link) if part)
    return f"<p class='source'>{told}</p>" if told else ""
