"""The library: a server written once, as a modern one without sessions, and served to clients of every revision."""
