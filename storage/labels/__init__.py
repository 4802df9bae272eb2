"""Label revisions: registration, import, disclosure levels, withheld scores."""
