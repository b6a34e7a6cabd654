"""What window and engine say to one another: frozen records of requests, events and values."""
