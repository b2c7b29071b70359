"""What tools/label.py is made of: a teacher's process, and what it has said so far."""
