"""The Library dock: operators and groups to search, browse and drag onto the canvas."""
