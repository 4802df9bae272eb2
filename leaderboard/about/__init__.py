"""The page about the benchmark, and that of known exploits."""
