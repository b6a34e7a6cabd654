"""The program room."""
