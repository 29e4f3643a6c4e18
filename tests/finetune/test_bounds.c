/* test_bounds.c - labels outside the bounds of r or m1 m2 reach no weight and no neighbour, labels
 * inside do; and what is refused. */
#include "on_ref.h"
#include "tiny.h"

static struct tiny tiny;

/* Labels of two_body_train on rows that are fed, and how many of them lie inside the bounds. */
static void count(const struct ft_bounds *bounds, size_t *all, size_t *inside)
{
    const struct sim_dataset *set = &tiny.run.train;
    *all = *inside = 0;
    for (size_t at = 0; at < set->n * (size_t)set->positions; at++) {
        if (!isfinite(set->force_magnitude[at]) || (at + 1) % (size_t)set->positions == 0)
            continue;
        const float *s = set->full_state + 6 * at;
        const double r = hypot((double)s[0], (double)s[1]), m = (double)s[4] * (double)s[5];
        ++*all;
        *inside += (bounds->r_min <= 0 || r >= bounds->r_min) &&
                   (bounds->r_max <= 0 || r <= bounds->r_max) &&
                   (bounds->m_min <= 0 || m >= bounds->m_min) &&
                   (bounds->m_max <= 0 || m <= bounds->m_max);
    }
}

struct change {
    struct ft_bounds bounds;
    const float *states; /* of the set */
    bool inside;         /* changes labels inside, else those outside */
};

/* Another force for labels inside, no label outside. */
static float other_force(float value, size_t index, const void *context)
{
    const struct change *c = context;
    const float *s = c->states + 6 * index;
    const double r = hypot((double)s[0], (double)s[1]), m = (double)s[4] * (double)s[5];
    const struct ft_bounds *b = &c->bounds;
    const bool inside = r >= b->r_min && (b->r_max <= 0 || r <= b->r_max) && m >= b->m_min &&
                        (b->m_max <= 0 || m <= b->m_max);
    return !isfinite(value) || inside != c->inside ? value : inside ? value * 3.7f : INFINITY;
}

/* The checkpoint also holds the least validation loss. */
static void sums(const char *run, uint64_t sum[3])
{
    tiny_open_run(&tiny, run);
    assert_int_equal(ft_magnitude_oracle(&tiny.run), 0);
    assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), 0);
    sum[0] = tiny_checksum(&tiny, "oracle", "forces_magnitude.csv");
    sum[1] = tiny_checksum(&tiny, "lssar", "forces_magnitude.csv");
    sum[2] = tiny_checksum(&tiny, "lssar", "magnitude.safetensors");
    tiny_close_run(&tiny);
}

static float *states_of(const struct sim_dataset *set)
{
    const size_t n = set->n * (size_t)set->positions * 6;
    float *states = malloc(n * sizeof *states);
    assert_non_null(states);
    memcpy(states, set->full_state, n * sizeof *states);
    return states;
}

static void change_labels(struct change *change, bool inside)
{
    float *train = states_of(&tiny.run.train), *val = states_of(&tiny.run.val);
    tiny_close_run(&tiny);
    change->inside = inside;
    change->states = train;
    tiny_change(&tiny, "force_magnitude", "two_body_train", other_force, change);
    change->states = val;
    tiny_change(&tiny, "force_magnitude", "two_body_val", other_force, change);
    free(train);
    free(val);
}

/* Bounds of r on both sides, of r from below, of m1 m2. */
TEST(test_outside_is_not_learned)
{
    static const struct ft_bounds tried[] = {{0.9, 1.8, 0, 0}, {1.5, 0, 0, 0}, {0, 0, 0.1, 1}};
    for (int k = 0; k < 3; k++) {
        struct change change = {.bounds = tried[k]};
        uint64_t before[3], after[3];
        size_t all, inside;
        tiny_preset(&tiny.settings, false);
        struct orr_orbits_settings *o = &tiny.settings.orbits;
        o->label_r_min = tried[k].r_min;
        o->label_r_max = tried[k].r_max;
        o->label_m_min = tried[k].m_min;
        o->label_m_max = tried[k].m_max;
        struct orr_train_settings *t = &tiny.settings.finetune.magnitude;
        t->steps = 40;
        t->lr = 0.1;
        t->eval_every = 1;
        t->patience = 3; /* the best weights are selected by labels inside, too */
        tiny_open(&tiny);
        count(&tried[k], &all, &inside);
        assert_true(inside > 20 && inside + 20 < all);
        struct ft_labels labels;
        struct ft_bounds bounds;
        ft_bounds_of(&tiny.settings, &bounds);
        assert_int_equal(ft_labels_find(&labels, &tiny.run.train, &bounds), 0);
        assert_int_equal(ft_labels_points(&labels, NULL, NULL), inside);
        assert_true(labels.count > 0 && (k < 2 || labels.count < tiny.run.train.n));
        ft_labels_free(&labels);
        tiny_close_run(&tiny);
        sums("before", before);
        tiny_open_run(&tiny, "open");
        change_labels(&change, false);
        sums("outside", after);
        for (int i = 0; i < 3; i++)
            assert_int_equal(before[i], after[i]);
        tiny_open_run(&tiny, "open");
        change_labels(&change, true);
        sums("inside", after);
        for (int i = 0; i < 3; i++)
            assert_int_not_equal(before[i], after[i]);
        scratch_remove(tiny.dir);
    }
}

TEST(test_refused)
{
    tiny_preset(&tiny.settings, false);
    tiny.settings.orbits.label_r_min = 2;
    tiny.settings.orbits.label_r_max = 1;
    assert_int_equal(orr_settings_check(&tiny.settings), ORR_EUSAGE);
    error_names("orbits.label_r_min", "1", "2", NULL);
    tiny_preset(&tiny.settings, false);
    tiny.settings.orbits.label_m_max = 1e-9;
    tiny_open(&tiny);
    assert_int_equal(ft_magnitude_model(&tiny.run, "lssar", "lssar", NULL), ORR_EINVAL);
    error_names("label_m_max = 1e-09", "0 labels", NULL);
    assert_int_equal(ft_magnitude_oracle(&tiny.run), ORR_EINVAL);
    error_names("label_m_max = 1e-09", "0 labels", NULL);
    tiny_close(&tiny);
}

TESTS_ON_REF(NULL, NULL)
