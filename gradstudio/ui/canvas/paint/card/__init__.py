"""Paints one card, near and from afar: background, header, rows, results and signs."""
