"""What revision 2025-06-18 changed."""
