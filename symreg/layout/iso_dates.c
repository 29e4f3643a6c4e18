/* iso_dates.c - ISO dates and date-times as days, for tables in which they are a column of time. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "layout.h"

/* Reads exactly `digits` digits; -1: there are fewer. */
static int read_digits(const char **at, int digits)
{
    int value = 0;
    for (int k = 0; k < digits; k++, (*at)++) {
        if (!isdigit((unsigned char)**at))
            return -1;
        value = 10 * value + (**at - '0');
    }
    return value;
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days from 0001-01-01 to the day, of the Gregorian calendar; false for a day that does not
 * exist. */
static bool days_of(int year, int month, int day, double *days)
{
    static const int length[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int before = year - 1;
    if (year < 1 || month < 1 || month > 12 || day < 1 ||
        day > length[month - 1] + (month == 2 && is_leap(year)))
        return false;
    const int leap_days = before / 4 - before / 100 + before / 400;
    *days = 365.0 * before + leap_days + day - 1;
    for (int m = 1; m < month; m++)
        *days += length[m - 1] + (m == 2 && is_leap(year));
    return true;
}

/* Reads HH:MM with seconds and their fraction where they follow; the share of a day. */
static bool read_time(const char **at, double *share)
{
    const int hour = read_digits(at, 2), minute = *(*at)++ == ':' ? read_digits(at, 2) : -1;
    double second = 0;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59)
        return false;
    if (**at == ':') {
        ++*at;
        second = read_digits(at, 2);
        if (second < 0 || second > 60)
            return false;
    }
    if (**at == '.') {
        double place = 0.1;
        for (++*at; isdigit((unsigned char)**at); ++*at, place /= 10)
            second += place * (**at - '0');
    }
    *share = (hour * 3600.0 + minute * 60.0 + second) / 86400;
    return true;
}

/* Reads Z, +HH:MM, +HHMM or +HH, what a clock is ahead; nothing is none. */
static bool read_zone(const char **at, double *ahead)
{
    const char sign = **at;
    *ahead = 0;
    if (sign == 'Z' || sign == '+' || sign == '-')
        ++*at;
    if (sign != '+' && sign != '-')
        return true;
    const int hour = read_digits(at, 2);
    *at += **at == ':';
    const int minute = isdigit((unsigned char)**at) ? read_digits(at, 2) : 0;
    *ahead = (sign == '-' ? -1 : 1) * (hour + minute / 60.0) / 24;
    return hour >= 0 && hour < 24 && minute >= 0 && minute < 60;
}

bool sr_cell_day(const char *cell, double *day)
{
    static const double of_1970 = 719162;
    const char *at = cell + strspn(cell, " \t");
    double share = 0, ahead = 0;
    const int year = read_digits(&at, 4);
    const int month = year >= 0 && *at == '-' ? (at++, read_digits(&at, 2)) : -1;
    const int date = month >= 0 && *at == '-' ? (at++, read_digits(&at, 2)) : -1;
    if (date < 0 || !days_of(year, month, date, day))
        return false;
    if ((*at == 'T' || *at == ' ') && isdigit((unsigned char)at[1])) {
        at++;
        if (!read_time(&at, &share) || !read_zone(&at, &ahead))
            return false;
    }
    *day = *day - of_1970 + (share - ahead); /* days since 1970 first: they have fewer digits */
    return !at[strspn(at, " \t")];
}

void sr_day_text(double day, char text[SR_DAY_TEXT])
{
    const double seconds = floor(day * 86400 + 0.5), whole = floor(seconds / 86400);
    const int second = (int)(seconds - whole * 86400);
    int year = 1970 + (int)(whole / 365.2425) - 1, month = 1;
    double from;
    while (days_of(year + 1, 1, 1, &from) && from - 719162 <= whole)
        year++;
    while (month < 12 && days_of(year, month + 1, 1, &from) && from - 719162 <= whole)
        month++;
    days_of(year, month, 1, &from);
    const int date = (int)(whole - (from - 719162)) + 1;
    if (second)
        snprintf(text, SR_DAY_TEXT, "%04d-%02d-%02dT%02d:%02d:%02d", year, month, date,
                 second / 3600, second / 60 % 60, second % 60);
    else
        snprintf(text, SR_DAY_TEXT, "%04d-%02d-%02d", year, month, date);
}

double sr_days_since(double day, double first)
{
    const double microseconds = 86400e6; /* of a day */
    return floor((day - first) * microseconds + 0.5) / microseconds;
}

bool sr_dates_fill(struct orr_csv *csv, size_t column, double first)
{
    double day;
    bool any = false;
    for (size_t i = 0; i < csv->rows; i++) {
        const size_t at = i * csv->cols + column;
        const char *cell = csv->cells && isnan(csv->values[at]) ? csv->cells[at] : "0";
        if (sr_cell_is_missing(cell))
            continue;
        if (!sr_cell_day(cell, &day))
            return false;
        any = true;
    }
    for (size_t i = 0; i < csv->rows && any; i++)
        if (!sr_cell_is_missing(csv->cells[i * csv->cols + column]) &&
            sr_cell_day(csv->cells[i * csv->cols + column], &day))
            csv->values[i * csv->cols + column] = sr_days_since(day, first);
    return any;
}

long sr_dates_odd(const struct orr_csv *csv, size_t column, bool known)
{
    size_t days = 0, others = 0;
    long odd = -1;
    for (size_t i = 0; i < csv->rows && csv->cells; i++) {
        const size_t at = i * csv->cols + column;
        const char *cell = isnan(csv->values[at]) ? csv->cells[at] : "0";
        double day;
        const bool is = sr_cell_day(cell, &day), missing = sr_cell_is_missing(cell);
        days += is;
        others += !is && !missing;
        odd = odd < 0 && !is && !missing ? (long)i : odd;
    }
    return known || (days > 0 && days >= others) ? odd : -1;
}

bool sr_dates_first(const struct orr_csv *csv, size_t column, double *first)
{
    double day;
    *first = INFINITY;
    for (size_t i = 0; i < csv->rows && csv->cells; i++) {
        const char *cell = csv->cells[i * csv->cols + column];
        if (!sr_cell_is_missing(cell) && !sr_cell_day(cell, &day))
            return false;
        if (!sr_cell_is_missing(cell))
            *first = fmin(*first, day);
    }
    return isfinite(*first);
}
