"""What values are in eager mode, and the steps that its loops make."""
