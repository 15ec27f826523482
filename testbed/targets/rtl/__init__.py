"""The `rtl` target: the hardware bottleneck's decisions in place of the traffic manager."""
