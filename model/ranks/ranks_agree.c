/* ranks_agree.c - checks that the ranks of a job agree on everything that training together needs.
 * */
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "ranks.h"

/* Describes what must be equal: the version, all settings but the precision, which rank 0
 * chooses, and the options that select the trainings. One line each, "name=value". */
static char *describe_rank(const struct orr_cli *cli)
{
    char value[ORR_SETTING], *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream)
        return NULL;
    fprintf(stream, "version=%s\npreset=%s\n", ORR_VERSION, cli->settings.name);
    for (int i = 0; orr_settings_key(i); i++) {
        if (!strcmp(orr_settings_key(i), "model.precision"))
            continue;
        orr_settings_value(&cli->settings, orr_settings_key(i), value);
        fprintf(stream, "%s=%s\n", orr_settings_key(i), value);
    }
    fprintf(stream,
            "--attention=%s\n--checkpoint=%s\n--attention-impl=%s\n--resume=%s\n--plan=%s\n",
            cli->attention, cli->checkpoint, cli->generic_attention ? "generic" : "auto",
            cli->resume ? "yes" : "no", cli->plan ? "yes" : "no");
    return fclose(stream) ? NULL : text;
}

/* Fails with the first line in which two descriptions differ. */
static int compare_ranks(const char *mine, const char *theirs)
{
    while (*mine && *theirs) {
        const size_t a = strcspn(mine, "\n"), b = strcspn(theirs, "\n");
        if (a != b || strncmp(mine, theirs, a) != 0) {
            const size_t name = strcspn(mine, "=");
            return ORR_FAIL(ORR_EUSAGE,
                            "ranks of one job must be alike: %.*s is %.*s, of rank 0 %.*s",
                            (int)name, mine, (int)(a - name - 1), mine + name + 1,
                            (int)(b > name ? b - name - 1 : b), theirs + (b > name ? name + 1 : 0));
        }
        mine += a + (mine[a] == '\n');
        theirs += b + (theirs[b] == '\n');
    }
    return *mine || *theirs ? ORR_FAIL(ORR_EUSAGE, "ranks of one job must be alike: settings") : 0;
}

/* Makes every rank use rank 0's instruction set. */
static int take_isa(void)
{
    int isa = (int)orr_isa();
    TRY(cluster_broadcast(&isa, sizeof isa, 0));
    int rc = 0;
    if (!orr_isa_has((enum orr_isa)isa))
        rc = ORR_FAIL(ORR_EDEVICE,
                      "rank 0 computes with %s, which this CPU does not have: expected ORRERY_ISA "
                      "to name a set that all have, such as %s",
                      orr_isa_name((enum orr_isa)isa), orr_isa_name(orr_isa()));
    else if (isa != (int)orr_isa())
        orr_isa_force((enum orr_isa)isa);
    return cluster_agree(rc);
}

int gpt_ranks_alike(const struct orr_cli *cli)
{
    char *mine, *first;
    if (cluster_size() < 2)
        return 0;
    mine = first = describe_rank(cli);
    int rc = cluster_agree(mine ? 0 : ORR_FAIL(ORR_ENOMEM, "ranks: out of memory"));
    if (!rc)
        rc = gpt_ranks_share_text(&first);
    if (!rc)
        rc = cluster_agree(compare_ranks(mine, first));
    if (first != mine)
        free(first);
    free(mine);
    return rc ? rc : take_isa();
}

int gpt_ranks_suit(const char *stage, const struct orr_train_settings *train,
                   const struct k_ops *ops)
{
    const int size = cluster_size();
    if (size < 2 || train->steps < 1)
        return 0;
    if (!ops->host && !ops->collectives)
        return ORR_FAIL(ORR_EUSAGE, "%d ranks: expected --device cpu, found %s", size, ops->name);
    if (train->micro_batches >= size)
        return 0;
    return ORR_FAIL(ORR_EUSAGE,
                    "%s.micro_batches: expected at least the number of ranks, %d, found %d; --set "
                    "%s.micro_batches=8 goes with 1, 2, 4 and 8 ranks",
                    stage, size, train->micro_batches, stage);
}
