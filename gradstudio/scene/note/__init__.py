"""Notes: their Markdown, its lines laid out in a width, and where a note lies."""
