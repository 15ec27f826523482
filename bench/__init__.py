"""How fast it runs."""
