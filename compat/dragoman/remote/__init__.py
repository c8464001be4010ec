"""The rules for a server that is reached by a URL, with no input or output of their own: values in, values out."""
