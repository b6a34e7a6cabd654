"""The rows of the action table, menu by menu: text, keys, icon and tooltip of every command."""
