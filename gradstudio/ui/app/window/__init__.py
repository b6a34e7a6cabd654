"""The main window: its frame and layout, the parts of the document in front, tabs, toolbar and status bar."""
