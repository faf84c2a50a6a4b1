"""The audit of an evaluator: runs controls, probe and suites, and hands what came of them to `integrity`.

Start reading in `running.py`; `config.py` is what a user writes.
"""
