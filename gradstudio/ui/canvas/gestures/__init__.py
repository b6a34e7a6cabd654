"""Mouse and keyboard on the canvas: who receives an event, and every gesture that a press begins."""
