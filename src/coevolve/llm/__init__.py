"""Models that answer chat requests, and what every call to them goes through."""
