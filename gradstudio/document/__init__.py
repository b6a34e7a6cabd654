"""A document on disk and in hand: reading and writing of files, what is stored beside them, clipboard and recovery."""
