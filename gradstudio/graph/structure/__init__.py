"""Questions about a whole program that a graph library answers: parts, longest ways, gates of a gradient, export."""
