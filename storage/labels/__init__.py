"""Label revisions: registration, import, disclosure levels."""
