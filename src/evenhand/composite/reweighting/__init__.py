"""The views behind `reweight`: a rule as a function of its weights, and who leads where."""
