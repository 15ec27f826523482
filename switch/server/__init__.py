"""The servers of a switch: P4Runtime (`p4runtime/`) and gNMI (`gnmi/`) on one gRPC port
with whatever is added in `serve.py`. They know a switch by the protocol in `target.py` only.
"""
