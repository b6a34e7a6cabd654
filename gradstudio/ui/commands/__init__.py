"""What the actions do, a module per menu. Each asks a store or a controller; none holds a truth."""
