"""What all benchmarks share: data sets, records, the runner, reports and figures."""
