"""dragoman lets MCP peers of different protocol revisions work together.

This module is on the way to the first answer of every wrapped server, so it imports nothing.
"""

__version__ = "0.1.0"
