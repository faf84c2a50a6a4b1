"""pydantic-evals: `LLMJudge` with the input in view, on the model named."""

import json
import sys


def main() -> None:
    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import LLMJudge

    model, items, outcomes = sys.argv[1:]
    with open(items) as lines:
        rows = [json.loads(line) for line in lines]
    judge = LLMJudge(rubric="The output is the right answer to the input", include_input=True, model=model)
    dataset = Dataset(name="given", cases=[Case(name=row["id"], inputs=row["task"]) for row in rows],
                      evaluators=[judge])  # fmt: skip
    given = {row["task"]: row["candidate"] for row in rows}
    report = dataset.evaluate_sync(lambda task: given[task], progress=False)
    with open(outcomes, "w") as out:
        for case in report.cases:
            accepted = next((bool(one.value) for one in case.assertions.values()), None)
            out.write(json.dumps({"id": case.name, "accepted": accepted}) + "\n")


if __name__ == "__main__":
    main()
