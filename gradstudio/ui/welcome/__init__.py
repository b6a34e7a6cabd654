"""What greets a person who starts the program without a file."""
