"""Running, comparing and timing two versions of a script."""
