/* device.c - the backend of a program: found before arguments are checked, opened after. */
#include "stage/provenance.h"
#include "device.h"
#include "checkpoint.h"

#include <string.h>

#include <cjson/cJSON.h>

static int choose_backend(struct gpt_device *device, const struct orr_cli *cli, const char *name)
{
    TRY(k_find(name, &device->ops));
    if (device->ops->choose)
        device->ops->choose(cli->device_number < 0 ? 0 : cli->device_number);
    if (cli->generic_attention)
        device->ops = k_generic_attention(device->ops, &device->generic);
    return 0;
}

/* Backends say what is missing; this adds the option or setting that asked for it. */
static int explain_failure(const struct orr_cli *cli, int rc)
{
    char why[2048];
    if (rc != ORR_EDEVICE)
        return rc;
    snprintf(why, sizeof why, "%.2000s", orr_error());
    if (cli->device == ORR_DEVICE_CUDA && cli->device_number >= 0)
        return ORR_FAIL(rc, "--device cuda:%d: %s", cli->device_number, why);
    if (cli->device == ORR_DEVICE_CUDA)
        return ORR_FAIL(rc, "--device cuda: %s", why);
    return ORR_FAIL(rc, "preset %s, model.device = cuda: %s", cli->settings.name, why);
}

/* Falls back to the CPU where a GPU is optional; the message says why. Where the machine has a
 * GPU this is an error, so that weeks of work on the CPU do not begin unasked. */
static int fall_back_to_cpu(struct gpt_device *device, const struct orr_cli *cli)
{
    char why[2048];
    snprintf(why, sizeof why, "%.2000s", orr_error());
    if (k_gpu_here())
        return ORR_FAIL(
            ORR_EDEVICE,
            "preset %s, model.device = auto: an NVIDIA GPU is here and cannot be used: %s; "
            "--device cpu computes on the CPU",
            cli->settings.name, why);
    orr_note(cli->quiet,
             "note: preset %s, model.device = auto: no GPU can be used: %s; computing on the CPU",
             cli->settings.name, orr_error());
    orr_error_clear();
    device->optional = false;
    return choose_backend(device, cli, "cpu");
}

int gpt_device_find(struct gpt_device *device, const struct orr_cli *cli)
{
    const enum orr_device wanted =
        cli->device != ORR_DEVICE_AUTO ? cli->device : cli->settings.model.device;
    device->optional = wanted == ORR_DEVICE_AUTO;
    const int rc = choose_backend(device, cli, wanted == ORR_DEVICE_CPU ? "cpu" : "cuda");
    return rc == ORR_EDEVICE && device->optional ? fall_back_to_cpu(device, cli)
                                                 : explain_failure(cli, rc);
}

/* The precision with which a checkpoint was made; "" when it does not say. */
static int precision_made(const char *checkpoint, char text[ORR_NAME])
{
    cJSON *made;
    text[0] = '\0';
    const int rc = gpt_checkpoint_made(checkpoint, &made);
    if (rc == ORR_EFORMAT) /* an unreadable checkpoint will be replaced */
        orr_error_clear();
    if (rc)
        return rc == ORR_EFORMAT ? 0 : rc;
    const cJSON *record = orr_made_record(made, orr_made_digest(made));
    const cJSON *settings = orr_json_get(record, "settings");
    const cJSON *precision = orr_json_get(settings, "model.precision");
    if (cJSON_IsString(precision))
        snprintf(text, ORR_NAME, "%s", precision->valuestring);
    cJSON_Delete(made);
    return 0;
}

static bool is_cpu(const struct k_ops *ops)
{
    return !strcmp(ops->name, "cpu");
}

static enum orr_precision automatic_precision(const struct k_ops *ops)
{
    struct k_cpu_kind kind;
    k_cpu_kind(&kind);
    return !is_cpu(ops) || k_bf16_pays(&kind) ? ORR_PRECISION_BF16 : ORR_PRECISION_FP32;
}

int gpt_precision_decide(struct orr_cli *cli, const struct gpt_device *device,
                         const char *checkpoint)
{
    char assignment[ORR_NAME + 32], made[ORR_NAME] = "";
    if (cli->settings.model.precision != ORR_PRECISION_AUTO)
        return 0;
    if (checkpoint && *checkpoint)
        TRY(precision_made(checkpoint, made));
    if (*made) {
        snprintf(assignment, sizeof assignment, "model.precision=%s", made);
        return orr_settings_set(&cli->settings, assignment);
    }
    cli->settings.model.precision = automatic_precision(device->ops);
    return 0;
}

void gpt_precision_tell(const struct orr_cli *given, const struct orr_cli *decided,
                        const struct gpt_device *device)
{
    const enum orr_precision precision = decided->settings.model.precision;
    const bool cpu = is_cpu(device->ops);
    struct k_cpu_kind kind;
    k_cpu_kind(&kind);
    if (given->settings.model.precision == ORR_PRECISION_AUTO)
        orr_note(decided->quiet, "precision: %s (%s), kept by this run from here on",
                 precision == ORR_PRECISION_BF16 ? "bf16" : "fp32",
                 cpu ? k_cpu_kind_name(&kind) : device->ops->name);
    if (precision == ORR_PRECISION_BF16 && cpu && !kind.avx512_bf16 && !kind.amx_bf16)
        orr_note(decided->quiet,
                 "note: model.precision is bf16; on %s products are computed in fp32",
                 k_cpu_kind_name(&kind));
}

bool gpt_is_small(const struct orr_cli *cli, const struct gpt_device *device, long batch,
                  long positions)
{
    return cli->threads > 1 && device->ops->host &&
           (double)batch * (double)positions * cli->settings.model.width <= 0x1p20;
}

/* Settings number the precisions as kernels do, offset by "auto". */
_Static_assert((int)ORR_PRECISION_BF16 - ORR_PRECISION_FP32 == (int)K_PRECISION_BF16 &&
                   (int)ORR_PRECISION_TF32 - ORR_PRECISION_FP32 == (int)K_PRECISION_TF32 &&
                   (int)K_PRECISION_FP32 == 0,
               "precisions of settings and of kernels");

static enum k_precision precision_of(const struct orr_cli *cli, const struct k_ops *ops,
                                     bool fp32_only)
{
    const enum orr_precision wanted = cli->settings.model.precision;
    const enum orr_precision p = wanted == ORR_PRECISION_AUTO ? automatic_precision(ops) : wanted;
    return fp32_only ? K_PRECISION_FP32 : (enum k_precision)(p - ORR_PRECISION_FP32);
}

int gpt_device_open(struct gpt_device *device, const struct orr_cli *cli, bool fp32_only)
{
    const enum k_precision precision = precision_of(cli, device->ops, fp32_only);
    static const char *const names[] = {
        [K_PRECISION_FP32] = "fp32", [K_PRECISION_BF16] = "bf16", [K_PRECISION_TF32] = "tf32"};
    int rc = device->ops->open(cli->threads, precision);
    orr_trace("backend %s, products in %s, %s", device->ops->name, names[precision],
              rc ? "which does not open" : "open");
    if (rc != ORR_EDEVICE || !device->optional)
        return explain_failure(cli, rc);
    TRY(fall_back_to_cpu(device, cli));
    return device->ops->open(cli->threads, precision);
}
