"""The servers of a switch: P4Runtime (`p4runtime/`) and gNMI (`gnmi/`), on one gRPC port
(`serve.py`). They access the switch only through the protocol in `target.py`.
"""
