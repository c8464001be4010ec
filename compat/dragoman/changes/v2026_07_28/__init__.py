"""What revision 2026-07-28 changed."""
