"""The local web page: from a file to its report and the rows behind the numbers."""
