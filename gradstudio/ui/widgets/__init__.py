"""Small widgets and ways of writing that several parts of the window share."""
