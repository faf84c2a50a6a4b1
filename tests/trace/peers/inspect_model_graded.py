"""inspect-ai: the candidates as they are, scored by `model_graded_qa` with its own template."""

import json
import sys


def main() -> None:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import model_graded_qa
    from inspect_ai.solver import solver

    items, outcomes = sys.argv[1:]
    with open(items) as lines:
        rows = [json.loads(line) for line in lines]

    @solver
    def as_given():
        async def solve(state, generate):
            state.output = ModelOutput.from_content("given", state.metadata["candidate"])
            return state

        return solve

    samples = [
        Sample(id=row["id"], input=row["task"], target=row["reference"], metadata={"candidate": row["candidate"]})
        for row in rows
    ]
    task = Task(
        dataset=MemoryDataset(samples), solver=as_given(), scorer=model_graded_qa(model="openai/gpt-4o"), name="given"
    )
    (log,) = eval(task, model="openai/gpt-4o", display="none", log_dir="logs", log_level="error")
    with open(outcomes, "w") as out:
        for sample in log.samples or []:
            value = sample.scores["model_graded_qa"].value
            out.write(json.dumps({"id": sample.id, "accepted": value == "C"}) + "\n")


if __name__ == "__main__":
    main()
