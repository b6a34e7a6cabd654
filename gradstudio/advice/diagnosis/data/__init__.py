"""Where numbers come from, and what is wrong with the way: rows of data, turns of loops, values of arguments."""
