"""The Curves dock: losses over the turns of loops, and whatever else a person asks to see of every turn."""
