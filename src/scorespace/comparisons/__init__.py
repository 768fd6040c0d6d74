"""Are we sure: intervals and tests for numbers and their differences."""
