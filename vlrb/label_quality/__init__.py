"""Quality of labels: annotation, agreement between annotators, suspected errors, differences between revisions."""
