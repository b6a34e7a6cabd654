"""Editors of arguments: text, choices, switches, sliders, tables of data and elements of lists."""
