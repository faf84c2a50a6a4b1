"""Where engine and store meet: a judge, items and endpoints put together, run, and recorded.

Start reading in `evaluation.py`; `session.py` is what `evenhand judge` and library users call.
"""
