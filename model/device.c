/* device.c - the backend of a program: found before its arguments are checked, opened after. */
#include "model.h"

static int take(struct gpt_device *device, const struct orr_cli *cli, const char *name)
{
    TRY(k_find(name, &device->ops));
    if (cli->generic_attention)
        device->ops = k_generic_attention(device->ops, &device->generic);
    return 0;
}

/* The CPU instead of a GPU; the error says why. */
static int settle(struct gpt_device *device, const struct orr_cli *cli)
{
    orr_note(cli->quiet, "%s; computing on the CPU", orr_error());
    orr_error_clear();
    device->optional = false;
    return take(device, cli, "cpu");
}

int gpt_device_find(struct gpt_device *device, const struct orr_cli *cli)
{
    const enum orr_device wanted =
        cli->device != ORR_DEVICE_AUTO ? cli->device : cli->preset.model.device;
    device->optional = wanted == ORR_DEVICE_AUTO;
    const int rc = take(device, cli, wanted == ORR_DEVICE_CPU ? "cpu" : "cuda");
    return rc == ORR_EDEVICE && device->optional ? settle(device, cli) : rc;
}

static enum k_precision precision_of(const struct orr_cli *cli, bool exact)
{
    const enum orr_precision p = cli->preset.model.precision;
    if (exact || p == ORR_PRECISION_FP32)
        return K_PRECISION_FP32;
    return p == ORR_PRECISION_TF32 ? K_PRECISION_TF32 : K_PRECISION_BF16;
}

int gpt_device_open(struct gpt_device *device, const struct orr_cli *cli, bool exact)
{
    const enum k_precision precision = precision_of(cli, exact);
    int rc = device->ops->open(cli->threads, precision);
    if (rc != ORR_EDEVICE || !device->optional)
        return rc;
    TRY(settle(device, cli));
    return device->ops->open(cli->threads, precision);
}
