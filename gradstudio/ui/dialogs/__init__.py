"""Windows that ask or list: export, pictures, files, seed, the command palette, the shortcut sheet, About."""
