"""torch.ops.orrery, registered once `orrery` and `torch` are both imported, in either order.

torch.export.load() and torch.load() look operators up by name, so that they have to be there before
orrery.attention is called. `import orrery` must not import torch, which takes seconds: a finder in
sys.meta_path waits for somebody who does.
"""

from __future__ import annotations

import sys
from typing import Any


def _register() -> None:
    """Without an error: import torch has to succeed, and orrery.attention says what is missing."""
    try:
        from . import _torch_ops  # noqa: F401
    except Exception:  # a torch without operators of one's own
        pass


class _AfterTorch:
    """Finds torch as the other finders do, and registers the operators after its import."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "torch":
            return None
        others = (getattr(finder, "find_spec", None) for finder in sys.meta_path
                  if finder is not self)
        specs = (find(name, path, target) for find in others if find)
        spec: Any = next((spec for spec in specs if spec), None)
        execute = getattr(getattr(spec, "loader", None), "exec_module", None)
        if execute:  # the loader remains what it was; a spec may be asked for without an import
            spec.loader.exec_module = lambda module: self._execute(execute, module)
        return spec

    def _execute(self, execute: Any, module: Any) -> None:
        execute(module)
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        _register()


def register_operators() -> None:
    """Now if torch is imported, else after its import."""
    if "torch" in sys.modules:
        _register()
    else:
        sys.meta_path.insert(0, _AfterTorch())
