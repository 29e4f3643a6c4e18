/* predict.c - predicts the forces of held-out orbits from a checkpoint that was fine-tuned to
 * magnitudes, and prints them beside the true ones as CSV.
 *
 *     predict RUN/softmax/finetune/magnitude.safetensors SETTINGS [ORBITS]
 *
 * SETTINGS: a file of lines KEY=VALUE, the orbits.* of the preset that the model was trained on. */
#include <math.h>
#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>

/* What is given back at the end, whatever comes between. */
struct all {
    struct orrery_simulation *simulation;
    struct orrery_model *model;
    float *coordinates, *true_force;
    double *force;
};

/* The held-out orbits under the settings, into arrays that hold n of them. */
static int simulate(struct all *a, const char *settings, size_t n, struct orrery_set *set)
{
    int status = orrery_simulation_set(a->simulation, settings);
    if (!status)
        status = orrery_simulation_describe(a->simulation, "two_body_test", set);
    if (status)
        return status;
    a->coordinates = calloc(n * set->positions * 2, sizeof *a->coordinates);
    a->true_force = calloc(n * set->positions, sizeof *a->true_force);
    a->force = calloc(n * set->positions, sizeof *a->force);
    if (!a->coordinates || !a->true_force || !a->force)
        return ORRERY_ENOMEM;
    const struct orrery_arrays arrays = {
        .bytes = sizeof arrays, .coordinates = a->coordinates, .force_magnitude = a->true_force};
    return orrery_simulation_sequences(a->simulation, "two_body_test", 0, n, 0, &arrays);
}

/* A model is fed all rows but the last one. */
static int predict(struct all *a, const char *checkpoint, size_t n, const struct orrery_set *set)
{
    const struct orrery_sequences sequences = {.bytes = sizeof sequences,
                                               .sequences = n,
                                               .rows = set->positions - 1,
                                               .stride = set->positions,
                                               .coordinates = a->coordinates};
    const int status = orrery_model_open(a->model, checkpoint, 0, 0);
    return status ? status : orrery_model_forces(a->model, &sequences, a->force);
}

static void print(const struct all *a, size_t n, size_t positions)
{
    printf("sequence,row,F_true,F\n");
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t + 1 < positions; t++)
            if (isfinite(a->true_force[i * positions + t])) /* infinite: no label */
                printf("%zu,%zu,%.6g,%.6g\n", i, t, (double)a->true_force[i * positions + t],
                       a->force[i * (positions - 1) + t]);
}

/* The text of a file, which is free()d. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(65536, 1);
    if (!file || !text || fread(text, 1, 65535, file) == 0) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    struct all a = {0};
    struct orrery_set set = {.bytes = sizeof set};
    const size_t n = argc > 3 ? strtoul(argv[3], NULL, 10) : 10;
    if (argc < 3) {
        fprintf(stderr, "usage: predict CHECKPOINT SETTINGS [ORBITS]\n");
        return 2;
    }
    char *settings = read_text(argv[2]);
    int status = settings ? 0 : ORRERY_EIO;
    if (!status)
        status = orrery_simulation_create(ORRERY_INTERFACE, &a.simulation);
    if (!status)
        status = orrery_model_create(ORRERY_INTERFACE, &a.model);
    if (!status)
        status = simulate(&a, settings, n, &set);
    if (!status)
        status = predict(&a, argv[1], n, &set);
    if (!status)
        print(&a, n, set.positions);
    else
        fprintf(stderr, "predict: %s: %s%s\n", orrery_status_text(status),
                a.simulation ? orrery_message(a.simulation) : "",
                a.model ? orrery_message(a.model) : "");
    orrery_simulation_free(a.simulation);
    orrery_model_free(a.model);
    free(settings);
    free(a.coordinates);
    free(a.true_force);
    free(a.force);
    return status != 0;
}
