"""student.py - 95% intervals of a mean by Student's t, for the scripts beside it."""
import math
import statistics

# Student's t at 97.5%, for 1, 2, ... degrees of freedom
T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


def half_width(values):
    """Half width of the interval; None for one value. At most ten values."""
    n = len(values)
    return T[n - 2] * statistics.stdev(values) / math.sqrt(n) if n > 1 else None
