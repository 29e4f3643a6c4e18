/* device.h - where a program computes, and in which precision. */
#ifndef GPT_DEVICE_H
#define GPT_DEVICE_H

#include "base/base.h"
#include "kernels/kernels.h"
#include "stage/cli.h"

/* Where a program computes. It is read through its own address: not to be copied. */
struct gpt_device {
    const struct k_ops *ops;
    struct k_ops generic; /* with --attention-impl generic */
    bool optional;        /* a GPU where there is one, else the CPU */
};
/* Finds the backend of --device or, where that is auto, of the preset's model.device. */
int gpt_device_find(struct gpt_device *device, const struct orr_cli *cli);
/* Decides model.precision = auto: bf16 on a GPU, and on CPUs that gain from it (k_bf16_pays); else
 * fp32. Where `checkpoint` is there and was made with a precision of its own, that one. Call it
 * before anything is derived from the settings. */
int gpt_precision_decide(struct orr_cli *cli, const struct gpt_device *device,
                         const char *checkpoint);
/* Says what was decided, once there is something to compute, and where this machine cannot. */
void gpt_precision_tell(const struct orr_cli *given, const struct orr_cli *decided,
                        const struct gpt_device *device);
/* Opens it with the preset's precision, or in fp32; ops->close() it. Where a GPU was optional
 * and cannot be used, says why and opens the CPU. ops may change. */
int gpt_device_open(struct gpt_device *device, const struct orr_cli *cli, bool fp32_only);

/* Whether threads have little to share in one such model, on the CPU, so that models are better
 * trained side by side (orr_jobs_run): tensors (batch, positions, width) of at most 2^20
 * numbers. */
bool gpt_is_small(const struct orr_cli *cli, const struct gpt_device *device, long batch,
                  long positions);

#endif
