"""Text of training scripts around the canvas's statements; lines are chosen by what a script needs."""
