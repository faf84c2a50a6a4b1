"""evenhand: automated judging you can check."""
