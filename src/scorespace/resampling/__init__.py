"""How sure is one number: cases drawn again, intervals, estimates, bands."""
