"""`narrows shell`: a program behind the bottleneck, in a network namespace of its own."""
