"""Edge in: from data and learners to predictions of cases that no model has seen."""
