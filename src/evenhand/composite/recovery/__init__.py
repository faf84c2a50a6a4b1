"""The search behind `recover`: families of rules from cheap to dear, and how far what survives can be told."""
