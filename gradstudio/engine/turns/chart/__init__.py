"""Decision boundaries: which function of two inputs leads to a node, and its picture over the plane."""
