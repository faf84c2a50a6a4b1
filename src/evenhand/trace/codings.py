"""Bodies without the codings of HTTP (RFC 9110, section 8.4), for reading alone: what passes is left as it is."""

import zlib
from collections.abc import Callable

__all__ = ["plain"]


def plain(body: bytes, coding: str, *, most: int) -> bytes | None:
    """A body without its codings.

    Args:
        body: as it came; the beginning of one will do.
        coding: the value of Content-Encoding; "" where there is none.
        most: bytes that are made of it at most; the rest is left out.
    Returns:
        None for a coding that is not known here, or a body that is not in it.

    >>> plain(b"as it is", "identity", most=9), plain(b"?", "br", most=9), plain(b"no gzip", "gzip", most=9)
    (b'as it is', None, None)
    """
    for name in reversed([part.strip().lower() for part in coding.split(",") if part.strip()]):
        read = _KNOWN.get(name)
        try:
            found = None if read is None else read(body, most)
        except zlib.error:
            found = None
        if found is None:
            return None
        body = found
    return body


def _as_it_is(body: bytes, most: int) -> bytes:
    return body


def _gzip(body: bytes, most: int) -> bytes:
    """All members, one after the other."""
    found = bytearray()
    while body and len(found) < most:
        member = zlib.decompressobj(31)
        found += member.decompress(body, most - len(found))
        body = member.unused_data
    return bytes(found)


def _deflate(body: bytes, most: int) -> bytes:
    """With the frame that the standard asks for, or without it, as some servers send it."""
    try:
        return zlib.decompressobj().decompress(body, most)
    except zlib.error:
        return zlib.decompressobj(-15).decompress(body, most)


def _zstd(body: bytes, most: int) -> bytes | None:
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(body, read_across_frames=True) as reader:
            return reader.read(most)
    except zstandard.ZstdError:
        return None


_KNOWN: dict[str, Callable[[bytes, int], bytes | None]] = {
    "identity": _as_it_is,
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "zstd": _zstd,
}
