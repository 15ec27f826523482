"""The data shared between rooms: the types of plan and tables, and the grammar of units."""
