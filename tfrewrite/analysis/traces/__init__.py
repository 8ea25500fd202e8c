"""What tracing a function of TensorFlow 2 does, and whether a trace may be replayed."""
