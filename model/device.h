/* device.h - the device on which a program computes, and its precision. */
#ifndef GPT_DEVICE_H
#define GPT_DEVICE_H

#include "base/base.h"
#include "kernels/kernels.h"
#include "stage/cli.h"

/* The device of a program. It contains pointers into itself and must not be copied. */
struct gpt_device {
    const struct k_ops *ops;
    struct k_ops generic; /* with --attention-impl generic */
    bool optional;        /* a GPU where there is one, otherwise the CPU */
};
/* Finds the backend of --device or, where that is auto, of the preset's model.device. */
int gpt_device_find(struct gpt_device *device, const struct orr_cli *cli);
/* Decides model.precision = auto: bf16 on a GPU, and on CPUs that gain from it (k_bf16_pays);
 * else fp32. If `checkpoint` exists and records its precision, that precision is chosen. Call it
 * before anything is derived from the settings. */
int gpt_precision_decide(struct orr_cli *cli, const struct gpt_device *device,
                         const char *checkpoint);
/* Notes the precision that was decided, once there is work to do, and where this machine lacks
 * it. */
void gpt_precision_tell(const struct orr_cli *given, const struct orr_cli *decided,
                        const struct gpt_device *device);
/* Opens the backend with the preset's precision, or in fp32; the caller calls ops->close(). Where
 * a GPU was optional and cannot be used, opens the CPU and says why if the machine has no GPU;
 * if it has one, ORR_EDEVICE. ops may change. */
int gpt_device_open(struct gpt_device *device, const struct orr_cli *cli, bool fp32_only);

/* Whether models are so small that it is faster to train several at once on the CPU
 * (orr_jobs_run) than to share threads in one: tensors (batch, positions, width) of at most 2^20
 * numbers. */
bool gpt_is_small(const struct orr_cli *cli, const struct gpt_device *device, long batch,
                  long positions);

#endif
