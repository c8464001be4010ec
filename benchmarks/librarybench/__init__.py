"""The library beside the official SDK's server: see ``run_library.py``."""
