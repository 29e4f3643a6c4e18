#!/usr/bin/env bash
# torch_custom_op_forward_mode.sh - forward-mode derivatives of torch's custom operators are 0.
#
# A good guess: an operator with register_autograd() but without a rule for forward mode is refused
# by torch.func.jvp and torch.func.jacfwd, as torch.func.grad and torch.func.jacrev refuse it and as
# torch.autograd.Function without jvp() is refused.
# Why it is wrong: under torch.func.jvp the operator's kernel is called with a plain tensor that has
# no tangent, its result has none either, and jvp takes what has no tangent for a constant: the
# derivative of x^2 at 3 is 0, without error or warning, also where x requires a gradient. A dual
# number of torch.autograd.forward_ad loses its tangent, too; there, and only there, the call is
# refused as soon as the primal requires a gradient, since the rule of register_autograd() becomes a
# torch.autograd.Function for such tensors.
# Exits with 0 while torch behaves so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q 'torch==2.15.0'
cat >"$folder/look.py" <<'END'
import torch
from torch import library
from torch.autograd import forward_ad


@library.custom_op("demo::square", mutates_args=())
def square(x: torch.Tensor) -> torch.Tensor:
    return x * x


def keep(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


def slope(ctx, given):
    return 2 * ctx.saved_tensors[0] * given


square.register_autograd(slope, setup_context=keep)


def outcome(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__


def dual(primal):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(square(forward_ad.make_dual(primal, one))).tangent


x, one = torch.tensor([3.0]), torch.tensor([1.0])
tracked = x.clone().requires_grad_()
square(tracked).sum().backward()
found = {
    "backward()": tracked.grad.item(),
    "func.jvp": torch.func.jvp(square, (x,), (one,))[1].item(),
    "func.jvp, x requires a gradient": torch.func.jvp(square, (tracked,), (one,))[1].item(),
    "func.jacfwd": torch.func.jacfwd(square)(x).item(),
    "functional.jacobian, forward-mode": torch.autograd.functional.jacobian(
        square, x, strategy="forward-mode", vectorize=True).item(),
    "func.grad": outcome(lambda: torch.func.grad(lambda x: square(x).sum())(x)),
    "func.jacrev": outcome(lambda: torch.func.jacrev(square)(x)),
    "dual number": dual(x),
    "dual number, x requires a gradient": outcome(lambda: dual(tracked)),
}
print(f"torch {torch.__version__}: derivative of x^2 at 3, an operator with a backward rule")
for name, value in found.items():
    print(f"  {name:36} {value}")
assert found == {
    "backward()": 6.0, "func.jvp": 0.0, "func.jvp, x requires a gradient": 0.0, "func.jacfwd": 0.0,
    "functional.jacobian, forward-mode": 0.0, "func.grad": "RuntimeError",
    "func.jacrev": "RuntimeError", "dual number": None,
    "dual number, x requires a gradient": "NotImplementedError"}, "torch behaves otherwise now"
print("forward mode answers 0 where reverse mode answers 6 or an error")
END
"$folder/venv/bin/python" -W ignore::UserWarning "$folder/look.py"
