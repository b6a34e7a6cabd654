"""The Log and Problems docks: rows with a severity and a node, and the details of a problem."""
