"""The site: the documents, and pages that are made of records and real runs: `make docs`."""
