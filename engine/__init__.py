"""The player without any protocol: options, loading, choosing, passing and resigning, reports, the doctor."""
