"""The sections of `make bench`: one file each; `bench/run.py` lists them."""
