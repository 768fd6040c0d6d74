"""Are two samples alike: raters who agree, and models that drift."""
