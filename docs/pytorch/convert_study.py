#!/usr/bin/env python3
"""convert_study.py - a GPT trained by the study's public code, as an Orrery checkpoint.

    python3 convert_study.py ckpt.pt model.safetensors

The study: K. Vafa, P. G. Chang, A. Rambachan, S. Mullainathan, "What Has a Foundation Model Found?"
(arXiv 2507.06952); its code saves, with torch.save, a dictionary of "model" (the state),
"model_args" (or "config") and "iter_num". Converted are GPTs with two token channels in, and either
the next state's tokens or numbers (force magnitude, force vector) out. Its state-space and
recurrent models have no counterpart.

Nothing is lost: Orrery's blocks are the same (pre-norm, q, k, v of all heads side by side, exact
GELU, epsilon 1e-5). Where the study's model has no biases they are zero; the bias of its token head
becomes head.bias (metadata head_bias = 1). Optimiser state is not taken along.
"""
import sys

import torch
from safetensors.torch import save_file

OURS = {  # of a block
    "ln_1": "ln1", "attn.c_attn": "attention.qkv", "attn.c_proj": "attention.proj",
    "ln_2": "ln2", "mlp.c_fc": "ffn.up", "mlp.c_proj": "ffn.down",
}
OUTSIDE = {  # of the rest, without the layers' numbers
    "embeddings.0.weight": "embed.x.weight", "embeddings.1.weight": "embed.y.weight",
    "input_combiner.weight": "embed.combine.weight", "input_combiner.bias": "embed.combine.bias",
    "pos_emb.weight": "position.weight", "ln_f.weight": "final.weight", "ln_f.bias": "final.bias",
    "output_head.weight": "head.weight", "output_head.bias": "head.bias",
}


def our_name(name):
    """None for what is no parameter (the causal mask of old PyTorch versions)."""
    if name in OUTSIDE:
        return OUTSIDE[name]
    part = name.split(".")
    if part[0] == "blocks" and part[-1] in ("weight", "bias"):
        if ".".join(part[2:]) == "attn.bias":
            return None
        middle = ".".join(part[2:-1])
        if middle in OURS:
            return f"block.{part[1]}.{OURS[middle]}.{part[-1]}"
    raise SystemExit(f"{name}: not a parameter of the study's GPT on token pairs")


def convert(checkpoint):
    """(tensors, metadata) of a loaded checkpoint."""
    args = checkpoint.get("model_args") or checkpoint["config"]
    if args.get("model_type", "gpt") != "gpt":
        raise SystemExit(f"model_type: expected gpt, found {args['model_type']}")
    tensors = {}
    for name, value in checkpoint["model"].items():
        name = name.removeprefix("_orig_mod.").removeprefix("module.")
        if our := our_name(name):
            tensors[our] = value.detach().float().contiguous().clone()
    layers = 1 + max(int(n.split(".")[1]) for n in tensors if n.startswith("block."))
    vocab, width = tensors["embed.x.weight"].shape
    for layer in range(layers):  # models without biases: zero
        for name in OURS.values():
            weight = tensors[f"block.{layer}.{name}.weight"]
            tensors.setdefault(f"block.{layer}.{name}.bias", torch.zeros(weight.shape[0]))
    tensors.setdefault("final.bias", torch.zeros(width))
    outputs = tensors["head.weight"].shape[0]
    tokens = args.get("output_vocab_size") is not None
    if tokens and outputs != 2 * vocab:
        raise SystemExit(f"output_head: expected {2 * vocab} outputs, found {outputs}")
    metadata = {  # what a model of tokens and softmax does not use is as Orrery's defaults
        "format": "pt", "orrery_format": "orrery-gpt-1", "version": "convert_study",
        "layers": layers, "heads": args["n_head"], "width": width,
        "ffn": tensors["block.0.ffn.up.weight"].shape[0],
        "context": tensors["position.weight"].shape[0],
        "input": 0, "vocab": vocab, "fourier": 0, "fourier_min_au": 0.25,
        "head": 0 if tokens else 1, "outputs": outputs,
        "head_bias": 1 if tokens else 0,
        "positions": 0, "rope_base": 10000, "attention": "softmax", "attention_p": 15,
        "attention_window": 0, "gate": 0, "step": checkpoint.get("iter_num", 0),
        "stage": "pretrain" if tokens else "magnitude" if outputs == 1 else "vector",
    }
    return tensors, {k: str(v) for k, v in metadata.items()}


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    # the study's "config" holds paths and other plain objects: a file of a known source
    checkpoint = torch.load(arguments[0], map_location="cpu", weights_only=False)
    tensors, metadata = convert(checkpoint)
    save_file(tensors, arguments[1], metadata)
    count = sum(t.numel() for t in tensors.values())
    print(f"{arguments[1]}: {metadata['layers']} layers, width {metadata['width']}, {count} "
          f"parameters, step {metadata['step']}, {metadata['stage']}")


if __name__ == "__main__":
    main(sys.argv[1:])
