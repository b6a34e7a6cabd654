"""The drawn program: nodes, wires, blocks, their order; edits and their inverses; the rules for wires."""
