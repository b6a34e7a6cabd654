"""The local rules of calculus of torch's operators, as data: a module per kind of operator, and the look-up."""
