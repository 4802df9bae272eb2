"""Tests of the package that makes editions from pools of pairs."""
