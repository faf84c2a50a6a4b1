"""ragas: `AnswerAccuracy` (two judges, reference in view) or `AspectCritic` (no reference), cut at a half."""

import asyncio
import json
import sys
import warnings


async def judged(which, rows):
    from openai import AsyncOpenAI
    from ragas.llms import llm_factory

    llm = llm_factory("gpt-4o", client=AsyncOpenAI())
    if which == "accuracy":
        from ragas.metrics.collections import AnswerAccuracy

        metric = AnswerAccuracy(llm=llm)
        for row in rows:
            found = await metric.ascore(user_input=row["task"], response=row["candidate"], reference=row["reference"])
            yield row["id"], float(found.value) >= 0.5
        return
    warnings.simplefilter("ignore")
    from ragas.dataset_schema import SingleTurnSample
    from ragas.metrics import AspectCritic

    critic = AspectCritic(name="right", definition="Is the response the right answer to the input?", llm=llm)
    for row in rows:
        sample = SingleTurnSample(user_input=row["task"], response=row["candidate"])
        yield row["id"], bool(await critic.single_turn_ascore(sample))


async def main() -> None:
    which, items, outcomes = sys.argv[1:]
    with open(items) as lines:
        rows = [json.loads(line) for line in lines]
    with open(outcomes, "w") as out:
        async for name, accepted in judged(which, rows):
            out.write(json.dumps({"id": name, "accepted": accepted}) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
