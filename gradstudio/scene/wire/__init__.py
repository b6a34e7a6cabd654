"""The paths of wires around cards and through dots, and where words beside them are put."""
