"""Charts of what a run learns: over the plane, by class, as points, images and histograms, and the path on the loss."""
