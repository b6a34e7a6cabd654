"""The rows of the Help menu: ways to learn, torch's documentation, keys, About."""

from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.actions.help_commands import HelpCommands
from gradstudio.ui.actions.learning_commands import LearningCommands


def learning_rows(c: LearningCommands) -> tuple[Row, ...]:
    """What shows a person the way."""
    return (
        ActionRow(
            "help.welcome",
            "Welcome",
            "Help",
            1,
            c.welcome,
            (),
            "welcome",
            tooltip="New, Open, recent files, and the examples with pictures",
        ),
        ActionRow(
            "help.tour",
            "Tour",
            "Help",
            1,
            c.tour,
            (),
            "tour",
            tooltip="Build, run and differentiate a first program, step by step",
        ),
        ActionRow(
            "help.lesson",
            "Lesson",
            "Help",
            1,
            c.lesson,
            (),
            "lesson",
            c.has_lesson,
            tooltip="What to try with this example, step by step",
            why=lambda: "This document has no lesson; each example has one.",
        ),
    )


def help_rows(c: HelpCommands) -> tuple[Row, ...]:
    """Documentation, keys and About."""
    words = "torch's own page of the operator that is selected, on the canvas or in the Library"
    return (
        ActionRow(
            "help.documentation",
            "Documentation",
            "Help",
            2,
            c.documentation,
            ("F1",),
            "documentation",
            tooltip=words,
        ),
        ActionRow("help.about", "About GradStudio", "Help", 3, c.about, (), "info"),
    )
