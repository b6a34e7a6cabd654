"""What a person said yes to: code that programs hold beside what is drawn, asked for and remembered."""
