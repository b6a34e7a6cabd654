"""Switches of a training whose lines are code on a canvas: an early stop, and a compiled model."""
