"""What is true of the code: names, values, order. Facts judge nothing; rules do."""
