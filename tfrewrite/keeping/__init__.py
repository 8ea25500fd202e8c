"""`apply --verify`: which rewrites there are, which of them hold and pay, and the files as kept."""
