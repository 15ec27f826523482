"""The reference manual, written from the records of the code: `make reference`."""
