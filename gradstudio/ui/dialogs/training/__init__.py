"""Add training with…: how a training that is added learns."""
