"""`--target bmv2`: `simple_switch_grpc` between a run's hosts, and what it gets wrong, measured."""
