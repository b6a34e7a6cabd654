"""What torch can do: the catalogue of operators, how each is called, its documentation, literals."""
