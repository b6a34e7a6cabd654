"""The Outline dock: the program in order as a tree."""
