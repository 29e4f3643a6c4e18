"""stream(): sequences that are simulated while a model trains on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from ._arguments import whole
from .simulation import MOST, Sequences, chosen_settings

if TYPE_CHECKING:
    from ._torch import Stream


def stream(name: str = "two_body_train", *, batch_size: int = 64, n: int | None = None,
           first: int = 0, keys: Sequence[str] | None = None, rank: int = 0, world_size: int = 1,
           preset: str | None = "quick", law: str | None = None, seed: int = 0,
           **settings: Any) -> Stream:
    """A torch.utils.data.IterableDataset of batches, dicts of tensors (batch_size, P, ...).

    torch.utils.data.DataLoader(orrery.stream(law="yukawa"), batch_size=None, num_workers=2)

    name, preset, law, seed and settings are those of simulate(). n sequences from number `first`
    on, the last batch may be smaller; None: without end. Each worker of a DataLoader, and each of
    world_size processes, simulates its own sequences, so that none comes twice: their union does
    not depend on the number of workers. keys: of the arrays, to leave the others out.
    """
    for what, value, least in (("batch_size", batch_size, 1), ("n", n, 0), ("first", first, 0),
                               ("rank", rank, 0), ("world_size", world_size, 1)):
        if value is not None or what != "n":
            whole(what, value, least, MOST)
    if rank >= world_size:
        raise ValueError(f"stream: rank: expected 0 to {world_size - 1}, found {rank}")
    chosen = chosen_settings(preset, law, seed, settings)
    known = set(Sequences(name, chosen, first + 1).arrays(first, 0, 1))
    unknown = [key for key in keys or () if key not in known]
    if unknown:
        raise ValueError(f"stream: keys: expected some of {', '.join(sorted(known))}, found "
                         f"{', '.join(unknown)}")
    try:
        from ._torch import Stream
    except ImportError as error:
        raise ImportError(f"stream: expected the package torch: pip install torch ({error})"
                          ) from error
    return Stream(name, chosen, batch_size, first, None if n is None else first + n,
                  None if keys is None else tuple(keys), rank, world_size)
