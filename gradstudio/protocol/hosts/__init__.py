"""Hosts: engines on other machines, behind OpenSSH or any command that ends in a process with two pipes."""
