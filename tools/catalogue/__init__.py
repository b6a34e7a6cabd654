"""How the catalogue of operators is made: a hand-written selection, signatures from the installed torch."""
