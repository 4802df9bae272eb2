"""The page of one entry or reported result, and the card of a result."""
