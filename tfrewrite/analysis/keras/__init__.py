"""Models, layers, losses and masks of Keras."""
