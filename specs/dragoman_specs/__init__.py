"""Facts about the Model Context Protocol, revision by revision. Nothing here does anything with a frame.

``version`` enumerates the revisions, ``methods`` and ``names`` hold the words of the wire, ``catalog`` holds one entry
for every change that a revision made. Import the module that is needed: this package loads none of them by itself.
"""
