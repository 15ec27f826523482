"""The live view: one page on this machine with a switch's queues as they are now."""
