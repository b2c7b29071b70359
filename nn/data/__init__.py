"""Training data: game records in, shuffled batches out."""
