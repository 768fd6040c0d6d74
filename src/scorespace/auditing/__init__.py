"""Edge in: what is in a data set, and what about it would fool whoever models it."""
