"""What to ask a model, and how to read its reply: pure generators and functions."""
