"""What each operation makes of the ranges of its operands."""
