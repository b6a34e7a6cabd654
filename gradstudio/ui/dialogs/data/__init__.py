"""Import data: a file or folder is looked at, a person chooses, and X and y come onto the canvas."""
