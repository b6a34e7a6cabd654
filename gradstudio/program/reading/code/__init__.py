"""Python that a canvas does not draw: kept as it was typed, on cards of code between what is drawn."""
