"""What belongs to a document: its graph and history, the group that is shown, selection, search and view choices."""
