"""What a script of TensorFlow 1 builds and runs: graphs, sessions, fetches, feeds, updates."""
