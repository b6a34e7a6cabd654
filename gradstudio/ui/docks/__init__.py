"""The docks around the canvas: where they stand, their titles, and a package for each."""
