"""Detectors: deterministic checks that run outside of any judge, before it, and hand it findings of fixed impact.

They are the user's own, as trusted as the judge file that names them, and run as the user; the texts they look at are
not trusted. So every detector has a deadline, output is bounded, no shell is started, and what hangs is killed with
everything it started. Start reading in `findings.py`.
"""
