"""What an item is in the text of a program: its statement, names, literals, templates, conditionals and notes."""
