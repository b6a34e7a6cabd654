"""Engine processes as the window holds them: on this machine and on hosts."""
