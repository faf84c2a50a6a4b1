"""Generated tokens of a probe by log probabilities against one by sampling, and whether both find the same.

python benchmarks/probe.py [MODEL] [--runs N] [--domain NAME] [--store FILE]      local/smollm2 unless named; minutes

The published protocol takes thirty calls; with fewer `--runs` its tokens are scaled up to thirty. Exits 1 where log
probabilities do not take at least ten times fewer.
"""

import argparse
import sys
from pathlib import Path

from evenhand.engine.retry import RetryPolicy
from evenhand.evaluate.evaluation import Settings
from evenhand.evaluate.probing import ProbePlan, Probing
from evenhand.store.database.sql import open_store
from evenhand.store.packaged import templates
from evenhand.store.probe_files import probe_domain

PUBLISHED_RUNS = 30
LEAST = 10.0


def main() -> int:
    """Probe by both methods, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="local/smollm2")
    parser.add_argument("--runs", type=int, default=PUBLISHED_RUNS)
    parser.add_argument("--domain", default="prose")
    parser.add_argument("--store", type=Path, help="keeps replies from run to run; in memory unless named")
    arguments = parser.parse_args()
    plan = ProbePlan(method="both", runs=arguments.runs, samples=0, control=False)
    patient = Settings(policy=RetryPolicy(attempt_timeout_s=1800.0, call_deadline_s=3600.0))
    with open_store(arguments.store) as store:
        probing = Probing([arguments.model], probe_domain(arguments.domain), plan, templates(), store=store)
        (found,) = probing.run(patient)
    sampled, read = found.tokens["sample"].output_tokens, found.tokens["logprob"].output_tokens
    if sampled is None or not read:
        print(f"{arguments.model}: the endpoint does not tell its tokens")
        return 1
    for_thirty = sampled * PUBLISHED_RUNS / arguments.runs
    document = found.document()
    print(f"sample   {arguments.runs} calls, {sampled:,} tokens generated; {for_thirty:,.0f} for {PUBLISHED_RUNS}")
    print(f"logprob  {found.tokens['logprob'].calls} calls, {read:,} tokens generated")
    print(f"ratio    {for_thirty / read:.1f} times fewer")
    print(f"regimes  {document['agreement']['methods']}")
    return 0 if for_thirty >= LEAST * read else 1


if __name__ == "__main__":
    sys.exit(main())
