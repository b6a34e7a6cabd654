"""The Lesson dock: what to try with an example, and which steps are done."""
