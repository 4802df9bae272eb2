"""Judgements of vision-language judges: readers of prediction files, scoring, statistics, published numbers."""
