"""The Memory dock: live curves, the memory of one run, and their link with canvas and timeline."""
