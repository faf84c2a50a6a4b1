"""deepeval: GEval on input and actual output, its steps given, cut at its own threshold."""

import json
import sys


def main() -> None:
    from deepeval.metrics import GEval
    from deepeval.test_case import LLMTestCase, SingleTurnParams

    items, outcomes = sys.argv[1:]
    with open(items) as lines:
        rows = [json.loads(line) for line in lines]
    with open(outcomes, "w") as out:
        for row in rows:
            metric = GEval(
                name="Correctness",
                evaluation_steps=["Solve the input.", "Check whether the actual output is the right answer to it."],
                evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
                model="gpt-4o",
                async_mode=False,
            )
            metric.measure(LLMTestCase(input=row["task"], actual_output=row["candidate"]), _show_indicator=False)
            out.write(json.dumps({"id": row["id"], "accepted": bool(metric.is_successful())}) + "\n")


if __name__ == "__main__":
    main()
