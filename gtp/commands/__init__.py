"""The commands of GTP, one file a group."""
