"""Review of single pairs: disputes of labels, annotation projects. All end in draft
revisions."""
