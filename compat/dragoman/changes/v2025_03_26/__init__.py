"""What revision 2025-03-26 changed."""
