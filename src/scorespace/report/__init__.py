"""Edge out: results as text, pictures and pages, all from one neutral document."""
