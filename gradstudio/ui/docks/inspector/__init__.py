"""The Inspector dock: everything about the one item that is selected, each part in a module of its own."""
