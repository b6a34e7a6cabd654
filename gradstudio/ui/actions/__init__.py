"""Every command of the menus: the table of actions, their keys, and what each menu's commands do."""
