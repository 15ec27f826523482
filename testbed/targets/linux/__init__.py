"""The Linux kernel's TCP as a host: namespaces, eBPF variants, a program on sockets."""
