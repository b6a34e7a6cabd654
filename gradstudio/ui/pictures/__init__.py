"""Pictures as files: the table of formats, figures painted with Qt, one page that steps, and films."""
