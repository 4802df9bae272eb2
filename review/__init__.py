"""Review of single pairs: disputes of labels, label error candidates, annotation projects. All end in draft
revisions."""
