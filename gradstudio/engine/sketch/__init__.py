"""What autograd holds behind tensors of a person's own script, read without changing anything of it."""
