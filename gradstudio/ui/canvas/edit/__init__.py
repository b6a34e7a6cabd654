"""What menus, keys and the toolbar ask of the canvas: commands by subject, the quick search and editing in place."""
