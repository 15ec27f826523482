"""Where everything is: a scenario's switches, links, hosts and flows, by the kind of topology."""
