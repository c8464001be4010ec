"""The linter: finds code that speaks an older revision of the protocol, explains each finding and fixes what is safe.

Every rule carries the id of the specification change that it comes from, the same id as in the catalog.
"""
