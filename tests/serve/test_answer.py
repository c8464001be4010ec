"""How much may wait for one client."""

from __future__ import annotations

import asyncio

from dragoman.http.effects import Begin, Chunk, End
from dragoman.serve.answer import LIMIT, Answer

BIG = b"x" * (LIMIT + 1)


async def new_answer() -> Answer:
    return Answer(1, 0, asyncio.get_running_loop())


async def put_all(*sizes: int) -> list[bool]:
    answer = await new_answer()
    taken = [answer.put(Begin(1, 200, ()), 0)]
    taken += [answer.put(Chunk(1, b""), size) for size in sizes]
    return [*taken, answer.put(End(1), 0)]


def test_small_pieces_wait_together() -> None:
    assert all(asyncio.run(put_all(*([1000] * 1000))))


def test_one_piece_of_any_size_is_taken_with_the_end_of_its_stream() -> None:
    assert all(asyncio.run(put_all(len(BIG))))


def test_a_big_piece_behind_a_small_one_is_taken() -> None:
    assert all(asyncio.run(put_all(100, 10 * LIMIT)))


def test_more_behind_a_big_piece_is_taken_up_to_the_limit() -> None:
    taken = asyncio.run(put_all(2 * LIMIT, LIMIT // 2, LIMIT // 2, LIMIT // 2, 1))
    assert taken[1:6] == [True, True, True, True, False]
