"""Context menus of the canvas, as rows of text and method by subject."""
