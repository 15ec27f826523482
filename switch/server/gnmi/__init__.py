"""gNMI: the service, and the tree of the traffic manager's leaves."""
