"""Read Python: text becomes a graph, by its syntax tree alone; nothing is executed."""
