"""Judges across the benchmarks of a service."""
