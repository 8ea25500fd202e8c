"""Notebooks: their code cells as one Python text, and a rewritten text back into its cells."""
