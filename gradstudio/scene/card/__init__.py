"""What stands on a card and how high it is: header, ports, fields, results, parameters and what the debugger adds."""
