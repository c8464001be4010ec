"""The rules of Streamable HTTP of every revision, with no input or output of their own: values in, values out."""
