"""From a pool of preference pairs to the next edition of a benchmark."""
