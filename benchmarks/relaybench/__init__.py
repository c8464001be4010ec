"""The harness behind ``benchmarks/run.py``: contenders, a raw client, measures, and the table they end in."""
