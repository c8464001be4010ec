"""OAuth with dragoman as the client of a server behind a URL (2026-07-28, basic/authorization). An optional extra: it imports much.

The flow itself is the official SDK's; what the specification asks beyond it, the login of a person and the keeping of tokens are
here. Nothing of this package is imported before a server has been found to ask for authorization.
"""
