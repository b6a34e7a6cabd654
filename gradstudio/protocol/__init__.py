"""What window and engine say to one another: messages, their frames on a pipe, and the client that sends them."""
