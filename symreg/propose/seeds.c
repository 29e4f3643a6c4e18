/* seeds.c - what a fit's search starts from: enumeration and composition, curves, sums. */
#include "collapse.h"

int sr_seeds_all(const struct sr_settings *settings, const struct sr_loss *loss,
                 struct sr_thread *thread, int threads, struct sr_seeds *seeds)
{
    int (*const stage[])(const struct sr_settings *, const struct sr_loss *, struct sr_thread *,
                         int,
                         struct sr_seeds *) = {sr_seeds_find, sr_collapse_find, sr_pursuit_find};
    for (size_t k = 0; k < sizeof stage / sizeof *stage; k++) {
        const int rc = stage[k](settings, loss, thread, threads, seeds);
        if (rc)
            return rc;
        for (int i = 0; i < seeds->count; i++)
            if (seeds->loss[i] <= loss->noise) /* the law is known */
                return 0;
    }
    return 0;
}
