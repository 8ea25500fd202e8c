"""What is written about outcomes: for people, for programs, and as a diff."""
