"""Starting the program: what must hold before Qt is loaded, crashes, and a picture without a window."""
