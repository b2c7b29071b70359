"""The dual network: a residual body with a policy head and a value head."""
