"""What belongs together: clusters of points, and items that go with items."""
