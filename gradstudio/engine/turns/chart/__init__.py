"""Charts of what a run learns: over the plane, by class, as points, images, maps and histograms, and its path."""
