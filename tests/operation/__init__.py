"""Tests of the package `operation`."""
