"""Values without data: meta and fake tensors, iterators that can be wound back, and what is said of them."""
