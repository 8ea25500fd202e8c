"""What runs inside the interpreter of a script that is verified: plain Python 3.6, no tfrewrite."""
