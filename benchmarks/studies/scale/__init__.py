"""Sums over thousands of partitions: memory of the driver, and lost executors."""
