"""What the rooms say to one another: the types of plan and tables, and the grammar of units."""
