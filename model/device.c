/* device.c - the backend of a program: found before its arguments are checked, opened after. */
#include "model.h"

static int take(struct gpt_device *device, const struct orr_cli *cli, const char *name)
{
    TRY(k_find(name, &device->ops));
    if (cli->generic_attention)
        device->ops = k_generic_attention(device->ops, &device->generic);
    return 0;
}

/* Backends say what is missing; this says who asked for it. */
static int explain(const struct orr_cli *cli, int rc)
{
    char why[2048];
    if (rc != ORR_EDEVICE)
        return rc;
    snprintf(why, sizeof why, "%.2000s", orr_error());
    if (cli->device == ORR_DEVICE_CUDA)
        return ORR_FAIL(rc, "--device cuda: %s", why);
    return ORR_FAIL(rc, "preset %s, model.device = cuda: %s", cli->preset.name, why);
}

/* The CPU instead of a GPU that nobody insists on; the error says why. */
static int settle(struct gpt_device *device, const struct orr_cli *cli)
{
    orr_note(cli->quiet,
             "note: preset %s, model.device = auto: no GPU can be used: %s; computing on the CPU",
             cli->preset.name, orr_error());
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
    return rc == ORR_EDEVICE && device->optional ? settle(device, cli) : explain(cli, rc);
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
        return explain(cli, rc);
    TRY(settle(device, cli));
    return device->ops->open(cli->threads, precision);
}
