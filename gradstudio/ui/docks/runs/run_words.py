"""What the Runs dock says of one run, or of two beside each other, as rich text."""

from collections.abc import Iterator
from html import escape
from typing import Final

from gradstudio.document.runs.kept_run import WORDS, KeptRun
from gradstudio.document.runs.run_comparison import (
    Difference,
    DiffLine,
    line_differences,
    literal_differences,
    setting_differences,
)
from gradstudio.ui.state.results.loop_progress import duration
from gradstudio.ui.state.runs.run_list import figures, when
from gradstudio.ui.theme import Theme, mono_font

SAME: Final = "The same program with the same literals."
BEST_KEPT: Final = "What it had learnt where {name} was best, {value:.4g} at turn {turn:,}, is kept, too."
MOST_LINES: Final = 400


def about_one(run: KeptRun, label: str, now: dict[str, str], text: str, theme: Theme) -> str:
    """A run, and what the document has otherwise now (`now` its literals, `text` its program)."""
    record = run.record
    lines = [f"<b>{escape(label)}</b>", f"{when(run)} · {duration(record.seconds)} · {WORDS[run.state]}"]
    if record.reason:
        lines.append(escape(record.reason))
    lines += [escape(one) for one in (*figures(run.record), *record.marks)]
    learnt = "What it learnt is kept." if run.has_parameters else record.lacks or "What it learnt is not kept."
    lines.append(_dim(learnt, theme))
    if (best := run.best_figure) is not None:
        lines.append(_dim(BEST_KEPT.format(name=record.best_of, value=best, turn=record.best_turns), theme))
    differences = literal_differences(record.literals, now)
    changed = list(line_differences(run.program(), text))
    head = "The document is as it was then." if not differences and not changed else "The document now, against it:"
    return "<br>".join([*lines, "", f"<b>{head}</b>", *_compared(differences, changed, theme)])


def about_two(first: KeptRun, second: KeptRun, labels: tuple[str, str], theme: Theme) -> str:
    """What the second has otherwise than the first."""
    differences = setting_differences(first.record, second.record)
    changed = list(line_differences(first.program(), second.program()))
    head = f"<b>{escape(labels[0])}</b> → <b>{escape(labels[1])}</b>"
    names = dict.fromkeys([*first.record.last, *second.record.last])
    rows = [Difference(name, _figure(first, name), _figure(second, name)) for name in names]
    lines = [head, *(_pair(row) for row in rows), ""]
    marked = [
        escape(f"{label}: {mark}")
        for run, label in zip((first, second), labels, strict=True)
        for mark in run.record.marks
    ]
    lines += [*marked, *_compared(differences, changed, theme)] or [SAME]
    return "<br>".join(lines)


def _compared(differences: list[Difference], changed: list[DiffLine], theme: Theme) -> Iterator[str] | list[str]:
    found = [_pair(one) for one in differences]
    if changed:
        family = mono_font().family()
        lines = "<br>".join(_line(line, theme) for line in changed[:MOST_LINES])
        found.append(f"<br><span style=\"font-family:'{escape(family)}'\">{lines}</span>")
    return found


def _pair(one: Difference) -> str:
    if one.first == one.second:
        return escape(f"{one.name}: {one.first}")
    return f"{escape(one.name)}: {escape(one.first) or '–'} → {escape(one.second) or '–'}"


def _figure(run: KeptRun, name: str) -> str:
    words = {text.rpartition(" ")[0]: text.rpartition(" ")[2] for text in figures(run.record)}
    return words.get(name, "")


def _line(line: DiffLine, theme: Theme) -> str:
    colors = {"-": theme.danger, "+": theme.ok, "": theme.text_dim, "@": theme.text_dim}
    text = "⋯" if line.side == "@" else f"{line.side or ' '} {line.text}"
    shown = escape(text).replace(" ", "&nbsp;")
    return f'<span style="color:{colors[line.side]}">{shown}</span>'


def _dim(text: str, theme: Theme) -> str:
    return f'<span style="color:{theme.text_dim}">{escape(text)}</span>'
