"""What the canvas says in sentences: tooltips, descriptions of statements, messages after a paste."""
