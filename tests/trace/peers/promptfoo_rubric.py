"""promptfoo: the candidates by its echo provider, graded by `llm-rubric`. PROMPTFOO names the program."""

import json
import os
import subprocess
import sys


def main() -> None:
    items, outcomes = sys.argv[1:]
    with open(items) as lines:
        rows = [json.loads(line) for line in lines]
    config = {
        "prompts": ["{{candidate}}"],
        "providers": ["echo"],
        "defaultTest": {
            "options": {"provider": "openai:chat:gpt-4o"},
            "assert": [{"type": "llm-rubric", "value": "Is the right answer to this question: {{task}}"}],
        },
        "tests": [
            {"description": row["id"], "vars": {"task": row["task"], "candidate": row["candidate"]}} for row in rows
        ],
    }
    with open("promptfooconfig.json", "w") as out:
        json.dump(config, out)
    subprocess.run(
        [os.environ["PROMPTFOO"], "eval", "-c", "promptfooconfig.json", "--no-cache", "--no-table", "--no-write",
         "--no-progress-bar", "-o", "found.json"],
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    with open("found.json") as found, open(outcomes, "w") as out:
        for result in json.load(found)["results"]["results"]:
            out.write(json.dumps({"id": result["testCase"]["description"], "accepted": result["success"]}) + "\n")


if __name__ == "__main__":
    main()
