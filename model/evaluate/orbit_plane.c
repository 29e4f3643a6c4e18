/* orbit_plane.c - see orbit_plane.h. */
#include "orbit_plane.h"

#include <math.h>
#include <string.h>

static void cross_of(const double a[3], const double b[3], double n[3])
{
    for (int c = 0; c < 3; c++)
        n[c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
}

/* The plane of a direction and, in space, a normal, which need not be perpendicular to it. */
static struct gpt_orbit_plane plane_of(int axes, const double along[], const double normal[3])
{
    struct gpt_orbit_plane p = {.axes = axes};
    const double r = sim_hypot(along, axes);
    for (int c = 0; c < axes; c++)
        p.e[0][c] = along[c] / r;
    if (axes == 2) {
        p.e[1][0] = -p.e[0][1];
        p.e[1][1] = p.e[0][0];
        return p;
    }
    cross_of(normal, p.e[0], p.e[1]);
    const double length = sim_hypot(p.e[1], 3);
    for (int c = 0; c < 3; c++)
        p.e[1][c] /= length;
    cross_of(p.e[0], p.e[1], p.e[2]);
    return p;
}

struct gpt_orbit_plane gpt_orbit_plane_of(int axes, const double separation[],
                                          const double velocity[])
{
    double normal[3] = {0};
    if (axes == 3)
        cross_of(separation, velocity, normal);
    return plane_of(axes, separation, normal);
}

static void separation_of(const double place[], int step, double s[3])
{
    for (int c = 0; c < 3; c++)
        s[c] = place[6 * step + c] - place[6 * step + 3 + c];
}

/* The plane of separations in space. The second step is counterclockwise. */
static struct gpt_orbit_plane span_plane(int steps, const double place[])
{
    double first[3], best[3] = {0}, second[3] = {0}, most = 0;
    separation_of(place, 0, first);
    for (int k = 1; k < steps; k++) {
        double s[3], n[3];
        separation_of(place, k, s);
        cross_of(first, s, n);
        const double sine = sim_hypot(n, 3) / (sim_hypot(first, 3) * sim_hypot(s, 3));
        if (k == 1)
            memcpy(second, n, sizeof n);
        if (sine > most) {
            most = sine;
            memcpy(best, n, sizeof n);
        }
    }
    const double sign = sim_dot(best, second, 3) < 0 ? -1 : 1;
    for (int c = 0; c < 3; c++)
        best[c] *= sign;
    int least = 0; /* the axis that is least in line */
    for (int c = 1; c < 3; c++)
        least = fabs(first[c]) < fabs(first[least]) ? c : least;
    if (!(most > 0))
        best[least] = 1;
    return plane_of(3, first, best);
}

struct gpt_orbit_plane gpt_orbit_flatten(int axes, int steps, const double place[], double flat[])
{
    struct gpt_orbit_plane plane = {.axes = axes};
    if (axes == 2) {
        memcpy(flat, place, 4 * (size_t)steps * sizeof *flat);
        return plane;
    }
    plane = span_plane(steps, place);
    for (int k = 0; k < 2 * steps; k++) {
        const double *at = place + 3 * k;
        for (int c = 0; c < 2; c++)
            flat[2 * k + c] = sim_dot(at, plane.e[c], 3);
        plane.height += sim_dot(at, plane.e[2], 3) / (2 * steps);
    }
    return plane;
}

void gpt_orbit_lift(const struct gpt_orbit_plane *plane, const double flat[2], double height,
                    double vector[])
{
    for (int c = 0; c < plane->axes; c++)
        vector[c] = plane->axes == 2 ? flat[c]
                                     : flat[0] * plane->e[0][c] + flat[1] * plane->e[1][c] +
                                           height * plane->e[2][c];
}
