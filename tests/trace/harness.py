"""A small judge harness of each arm: asks OPENAI_BASE_URL about every item, and writes what it accepts.

    python harness.py ARM ITEMS.jsonl OUTCOMES.jsonl

It knows nothing of evenhand. The arms differ in what the judge is shown, and in what acceptance follows.
"""

import json
import os
import re
import sys
import urllib.request

SHOWN = "Question: {task}\n\nProposed answer: {candidate}\n\n"
PROMPTS = {
    "anchored": SHOWN + "Is the proposed answer correct? End with GRADE: C or GRADE: I.",
    "solve_first": SHOWN + "First solve the question yourself, then say whether the proposed answer is correct. "
    "End with GRADE: C or GRADE: I.",
    "commit_visible": SHOWN + "Before anything else, work the question out and write one line\nMy answer: <number>",
    "commit_blind": "Question: {task}\n\nWork it out and end with one line\nMy answer: <number>",
}
COMPARED = "Question: {task}\n\nYour own answer was {own}. The proposed answer is {candidate}. "
VERDICT = COMPARED + "Is the proposed answer acceptable? Reply VERDICT: yes or VERDICT: no."
SCORED = COMPARED + "How good is the proposed answer? Reply Score: followed by a number from 0 to 1."


def ask(text):
    body = json.dumps({"model": "judge-1", "temperature": 0, "messages": [{"role": "user", "content": text}]})
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        data=body.encode(),
        headers={"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]


def number(text):
    return float(re.findall(r"-?\d+(?:\.\d+)?", text)[-1])


def accepted(arm, item):
    first = "commit_blind" if arm in ("commit_ignored", "commit_scored") else arm
    reply = ask(PROMPTS[first].format(**item))
    if first in ("anchored", "solve_first"):
        return "GRADE: C" in reply
    own = re.search(r"My answer: (.+)", reply)
    if own is None:
        return False
    if arm == "commit_ignored":
        return "VERDICT: yes" in ask(VERDICT.format(own=own[1], **item))
    if arm == "commit_scored":
        return number(ask(SCORED.format(own=own[1], **item))) >= 0.5
    return number(item["candidate"]) == number(own[1])


def main():
    arm, items, outcomes = sys.argv[1:]
    with open(items) as lines, open(outcomes, "w") as out:
        for item in map(json.loads, lines):
            out.write(json.dumps({"id": item["id"], "accepted": accepted(arm, item)}) + "\n")
    print("harness done")


if __name__ == "__main__":
    main()
