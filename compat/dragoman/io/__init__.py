"""Bytes, processes and clocks: the only place of the layer with descriptors, threads, time and randomness."""
