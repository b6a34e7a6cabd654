"""The truths of the window and their announcements; views pull from them and hold none."""
