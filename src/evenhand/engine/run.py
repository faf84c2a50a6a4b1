"""Many tasks at once: a bounded number under way, drawn lazily, until all are done or one says stop."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

__all__ = ["run_all"]

T = TypeVar("T")


async def run_all(
    tasks: Iterator[T],
    work: Callable[[T], Awaitable[None]],
    *,
    width: int,
    stop: Callable[[], None],
    stopping: Callable[[], bool],
) -> BaseException | None:
    """Work on tasks, `width` at a time.

    Args:
        tasks: drawn one by one as there is room.
        work: does one; an exception it raises ends the run.
        width: how many are under way at most.
        stop: called once at the first exception, so that tasks under way can end early.
        stopping: when true, no further task is drawn.
    Returns:
        The first exception that `work` or `tasks` raised, once everything under way has ended; None if there was none.
    """
    first: list[BaseException] = []

    async def worker() -> None:
        while not stopping():
            try:
                task = next(tasks, _DONE)
                if task is _DONE:
                    return
                await work(task)  # type: ignore[arg-type]
            except Exception as error:
                first.append(error)
                stop()

    await asyncio.gather(*(worker() for _ in range(width)))
    return first[0] if first else None


_DONE = object()
