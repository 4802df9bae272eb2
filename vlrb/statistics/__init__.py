"""Statistics of judges' votes: intervals, ranks, comparisons of judges, reliability, selection among variants."""
