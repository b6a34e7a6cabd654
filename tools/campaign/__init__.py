"""The campaign: hostile inputs, kills and long use; each case can be had again by its seed and number."""
