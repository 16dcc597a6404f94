"""events.jsonl: the logs Z on disk."""

from pathlib import Path

from coevolve.events import Event


class EventLog:
    """Appends events; those of a round that will be replayed are cut off at the start."""

    def __init__(self, path: Path, kept_bytes: int | None = None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        if kept_bytes is not None and self._file.tell() > kept_bytes:
            self._file.truncate(kept_bytes)
            self._file.seek(kept_bytes)

    def append(self, event: Event) -> None:
        """Write one event."""
        self._file.write(event.model_dump_json().encode() + b"\n")

    def flush(self) -> int:
        """Hand all events to the operating system and return the file's size in bytes."""
        self._file.flush()
        return self._file.tell()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
