/* learning_rate.c - the learning rate of a step, by schedule. */
#include "optimizer.h"

#include <math.h>

double gpt_lr(const struct orr_train_settings *train, long step)
{
    if (step < train->warmup)
        return train->lr * (double)(step + 1) / (double)train->warmup;
    /* the factor is 1 at the end of the warm-up */
    if (train->schedule == ORR_SCHEDULE_INVERSE_SQRT) {
        const double first = train->warmup > 1 ? (double)train->warmup : 1;
        return train->lr * sqrt(first / fmax(first, (double)(step + 1)));
    }
    if (train->schedule == ORR_SCHEDULE_CONSTANT || train->steps <= train->warmup)
        return train->lr;
    const double done = (double)(step - train->warmup) / (double)(train->steps - train->warmup);
    const double low = train->lr_final * train->lr;
    if (train->schedule == ORR_SCHEDULE_LINEAR)
        return train->lr - (train->lr - low) * fmin(done, 1);
    return low + 0.5 * (train->lr - low) * (1 + cos(3.14159265358979323846 * fmin(done, 1)));
}
