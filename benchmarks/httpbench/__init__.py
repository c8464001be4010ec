"""The harness behind ``benchmarks/run_http.py``: contenders, a raw HTTP client, measures, and what is asked of dragoman."""
