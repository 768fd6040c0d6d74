"""Audit of a data set: column kinds, leaks, duplicates, missing codes and train-test overlap."""
