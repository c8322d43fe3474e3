"""The tests: a module for each of the package, and the benchmarks in bench/."""
