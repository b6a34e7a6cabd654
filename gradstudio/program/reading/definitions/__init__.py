"""Functions, classes and methods of a text, read as groups that nodes call."""
