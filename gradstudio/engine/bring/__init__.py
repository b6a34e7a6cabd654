"""A module of the user's own as a program of ours: imported, run once, recorded, compared. Runs the user's code."""
