"""Edge out: the local web page, which shows the report of any file of one folder and the rows behind its numbers."""
