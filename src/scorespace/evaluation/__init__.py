"""Where edges and core meet: from data and roles to an evaluation of its models."""
