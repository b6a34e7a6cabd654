"""A graph as a program: its steps, their Python text in every form, and the way back from a text to a graph."""
