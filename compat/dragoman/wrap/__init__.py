"""The ``dragoman`` command: arguments in, a supervised bridge out."""
