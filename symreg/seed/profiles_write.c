/* profiles_write.c - shapes of one column as formulas. */
#include "profiles.h"
#include "shared.h"

/* v is the column x and u its distance x - c, or c - x. Numbers are weight, c, s, w, p, and
 * products of these: e = weight p, i = 1 / p, f = s^4, g = weight s^4, q = w^2, r = 2 w s. */
static const char letters[] = "acswpeifgqr";
/* Of a shape the first is written whose operators are allowed. Of 1 / (1 + (u / s)^4) s^4 is one
 * constant; a number p has fewer digits than 1 / p. */
static const struct {
    enum sr_profile_shape shape;
    const char *text;
} texts[] = {
    {SR_PROFILE_POWER, "a * u ^ p"},
    {SR_PROFILE_POWER, "a * exp(p * log(u))"},
    {SR_PROFILE_CLIP, "a * min(u ^ p, w)"},
    {SR_PROFILE_CLIP, "a * min(exp(p * log(u)), w)"},
    {SR_PROFILE_STEP, "a / (exp(u / s) + 1)"},
    {SR_PROFILE_FLAT, "g / (square(square(u)) + f)"},
    {SR_PROFILE_BOX, "a / (exp((abs(u) - w) / s) + 1)"},
    {SR_PROFILE_BOX, "a / (exp((square(u) - q) / r) + 1)"},
    {SR_PROFILE_SAW, "mod(u, p) * a"},
    {SR_PROFILE_SAW, "v * a - floor(u / p) * e"}, /* its weight c is one of the constant */
    {SR_PROFILE_SAW, "v * a - floor(u * i) * e"},
    {SR_PROFILE_DAYS, "greater(mod(u, p), w) * a"},
};

static const char *text_of(uint64_t operators, enum sr_profile_shape shape)
{
    for (size_t k = 0; k < sizeof texts / sizeof *texts && sr_has(operators, SR_SUB); k++)
        if (texts[k].shape == shape && !(sr_text_operators(texts[k].text, letters) & ~operators))
            return texts[k].text;
    return NULL;
}

bool sr_profile_possible(uint64_t operators, enum sr_profile_shape shape)
{
    return text_of(operators, shape);
}

bool sr_profile_write(const struct sr_proposal *p, const struct sr_profile *f, struct sr_expr *out)
{
    const double a = f->weight, c = f->c, s = f->s, w = f->w;
    const double number[] = {
        a, c, s, w, f->p, a * f->p, 1 / f->p, s * s * s * s, a * (s * s * s * s), w * w, 2 * w * s};
    struct sr_expr u[2] = {{.count = 0}, {.count = 1, .node = {sr_feature_node(f->column)}}};
    sr_put_text(f->side < 0 ? "c - v" : c != 0 ? "v - c" : "v", u, letters, number, &u[0]);
    out->count = 0;
    sr_put_text(text_of(p->operators, f->shape), u, letters, number, out);
    if (f->base > 1) {
        sr_put_text("v * k", u, "k", &f->slope, out);
        sr_put_op(out, SR_ADD);
    }
    if (f->base > 0)
        sr_put_by(SR_ADD, f->constant, out);
    return sr_put_end(p->settings->language, out, SR_NODES);
}
