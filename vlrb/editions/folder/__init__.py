"""Editions: definition, data card, layout of the Hub data set."""
