"""The memory of the layer, without I/O: frames go in, effects come out (see ``effects``)."""
