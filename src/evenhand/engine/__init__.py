"""Many calls at once: remembered, limited, retried, within a budget."""
