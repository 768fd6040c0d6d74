"""Clusters of points, and association rules between items."""
