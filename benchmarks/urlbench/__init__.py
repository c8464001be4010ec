"""The harness behind ``benchmarks/run_url.py``: servers behind a URL, who stands in front of them, measures, and what is told."""
