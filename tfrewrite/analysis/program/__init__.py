"""The file as a program of Python: who binds which name, and in which order things happen."""
