"""What revision 2025-11-25 changed."""
