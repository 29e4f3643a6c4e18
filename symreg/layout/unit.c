/* unit.c - units as ECSV (astropy), CDS, IPAC and rows of units write them, in the form of
 * --units. */
#include "layout.h"

#include <ctype.h>
#include <string.h>

enum { NAME = 15 }; /* bytes of a base unit, at most */

struct reader {
    const char *at;
    char *text;
    size_t bytes;
};

/* Reads an exponent: 2, -1, **2, ^-1, ^(1/2), or a digit behind the name (CDS); "" for 1. */
static bool read_power(struct reader *r, char power[24])
{
    bool sign = false;
    *power = '\0';
    if (!strncmp(r->at, "**", 2))
        r->at += 2, sign = true;
    else if (*r->at == '^')
        r->at++, sign = true;
    r->at += sign ? strspn(r->at, " ") : 0;
    if (*r->at == '(') {
        const size_t length = strcspn(r->at, ")");
        if (!r->at[length] || length > 20 || strspn(r->at + 1, "0123456789-+/.") != length - 1)
            return !sign; /* a unit in parentheses */
        snprintf(power, 24, "%.*s", (int)length + 1, r->at);
        r->at += length + 1;
        return true;
    }
    const size_t minus = *r->at == '-' || *r->at == '+';
    const size_t digits = strspn(r->at + minus, "0123456789.");
    if (!digits || r->at[minus] == '.')
        return !sign;
    if (digits > 8)
        return false;
    snprintf(power, 24, "%s%.*s", *r->at == '-' ? "-" : "", (int)digits, r->at + minus);
    for (size_t n = strlen(power); n && power[n - 1] == '.'; n--) { /* "m2.s": a product */
        power[n - 1] = '\0';
        r->at--;
    }
    r->at += minus + digits;
    return true;
}

/* The name that --constants knows for one of other programs. */
static const char *rename_unit(const char *name, size_t length, size_t *renamed)
{
    static const char *const same[][2] = {
        {"solMass", "M_sun"}, {"Msun", "M_sun"}, {"Msol", "M_sun"}, {"M_Sun", "M_sun"},
        {"au", "AU"},         {"day", "d"},      {"days", "d"},     {"year", "yr"},
        {"years", "yr"},      {"sec", "s"},      {"hr", "h"},       {"Angstrom", "angstrom"}};
    *renamed = length;
    for (size_t k = 0; k < sizeof same / sizeof *same; k++)
        if (strlen(same[k][0]) == length && !strncmp(name, same[k][0], length)) {
            *renamed = strlen(same[k][1]);
            return same[k][1];
        }
    return name;
}

static bool put_factor(struct reader *r, const char *name, size_t length, bool below,
                       const char *power)
{
    const size_t used = strlen(r->text);
    name = rename_unit(name, length, &length);
    if (length > NAME)
        return false;
    const int n = snprintf(r->text + used, r->bytes - used, "%s%.*s%s%s",
                           used    ? (below ? "/" : "*")
                           : below ? "1/"
                                   : "",
                           (int)length, name, *power ? "^" : "", power);
    return n >= 0 && (size_t)n < r->bytes - used;
}

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (c & 0x80);
}

/* Reads factors up to the end or a ")"; below: they divide. */
static bool read_product(struct reader *r, bool below, int depth)
{
    bool divide = false;
    for (size_t factors = 0;; factors++) {
        const size_t blanks = strspn(r->at, " ");
        r->at += blanks;
        if (!*r->at || *r->at == ')')
            return factors > 0;
        if (factors) {
            if (*r->at == '/' || (*r->at == '.' && r->at[1] != '.') ||
                (*r->at == '*' && r->at[1] != '*')) {
                divide = *r->at++ == '/';
                r->at += strspn(r->at, " ");
            } else if (!blanks) { /* a blank multiplies */
                return false;
            } else {
                divide = false;
            }
        } else if (*r->at == '/' || (*r->at == '1' && strchr("/ ", r->at[1]) && r->at[1])) {
            r->at += strspn(r->at, "1 ");
            divide = *r->at++ == '/';
            if (!divide)
                return false;
            r->at += strspn(r->at, " ");
        }
        char power[24];
        if (*r->at == '(') {
            r->at++;
            if (depth == 4 || !read_product(r, below != divide, depth + 1) || *r->at++ != ')' ||
                !read_power(r, power) || *power)
                return false;
            continue;
        }
        const char *const name = r->at;
        r->at += *name == '#' || *name == '%';
        while (is_letter(*name) && is_letter(*r->at))
            r->at++;
        const size_t length = (size_t)(r->at - name);
        if (!length || !read_power(r, power))
            return false;
        const bool number =
            (length == 1 && strchr("%#", *name)) || (length == 3 && !strncmp(name, "rad", 3));
        if (!number && !put_factor(r, name, length, below != divide, power))
            return false;
    }
}

bool sr_unit_translate(const char *unit, char *text, size_t bytes)
{
    char bare[200];
    unit += strspn(unit, " \t");
    size_t length = strlen(unit);
    while (length && strchr(" \t", unit[length - 1]))
        length--;
    if (length > 1 && unit[0] == '(' && unit[length - 1] == ')' &&
        !memchr(unit + 1, '(', length - 2)) {
        unit++;
        length -= 2;
    }
    if (length >= sizeof bare)
        return false;
    memcpy(bare, unit, length);
    bare[length] = '\0';
    snprintf(text, bytes, "%s", "");
    static const char *const none[] = {"", "-", "--", "---", "none", "None", "dimensionless"};
    for (size_t k = 0; k < sizeof none / sizeof *none; k++)
        if (!strcmp(bare, none[k]))
            return true;
    struct reader r = {bare, text, bytes};
    return read_product(&r, false, 0) && !*r.at;
}
