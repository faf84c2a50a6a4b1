"""Records to findings: nothing here opens a file or calls a provider."""
