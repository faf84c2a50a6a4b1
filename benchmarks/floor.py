"""The floor for `overhead.py` where no other is given: an aiohttp loop that sends, receives, and keeps nothing.

python benchmarks/floor.py --base http://127.0.0.1:PORT/v1 --items items.jsonl --in-flight 64
"""

import argparse
import asyncio
import json
from pathlib import Path

import aiohttp

SYSTEM = 'Judge the answer. Reply with a JSON object {"checks": [{"id": string, "quote": string, "passed": boolean}]}.'


async def main() -> None:
    """Ask about every item and read the verdict."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True)
    parser.add_argument("--items", required=True)
    parser.add_argument("--in-flight", type=int, default=64)
    arguments = parser.parse_args()
    items = map(json.loads, Path(arguments.items).read_text(encoding="utf-8").splitlines())
    passed = 0

    async def worker(session: aiohttp.ClientSession) -> None:
        nonlocal passed
        for item in items:
            text = f"{item['task']}\n\n{item['candidate']}"
            messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
            body = {"model": "fake-judge", "temperature": 0, "messages": messages}
            async with session.post(arguments.base + "/chat/completions", json=body) as response:
                reply = await response.json()
            passed += json.loads(reply["choices"][0]["message"]["content"])["checks"][0]["passed"]

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers={"Authorization": "Bearer x"}) as session:
        await asyncio.gather(*(worker(session) for _ in range(arguments.in_flight)))
    print(f"{passed} passed")


if __name__ == "__main__":
    asyncio.run(main())
