/* ptx_words.h - words and operands of an instruction, for what makes C++ of it. */
#ifndef PTX_WORDS_H
#define PTX_WORDS_H

#include "ptx.h"

/* One of the words of the operation after its first; empty where there is none. */
static inline std::string one_of(const struct ptx_statement &s,
                                 const std::vector<std::string> &words)
{
    for (size_t i = 1; i < s.operation.size(); i++)
        for (const std::string &w : words)
            if (s.operation[i] == w)
                return w;
    return "";
}

/* Refuses an instruction with a word that changes its meaning in a way not known here. */
static inline void allow(const struct ptx_statement &s, const std::vector<std::string> &words)
{
    for (size_t i = 1; i < s.operation.size(); i++) {
        bool known = ptx_size(s.operation[i]) || s.operation[i] == "pred";
        for (const std::string &w : words)
            known = known || s.operation[i] == w;
        if (!known)
            ptx_refuse(s.line, "'" + s.text + "': ." + s.operation[i] + " is not known");
    }
}

static inline const std::string &argument(const struct ptx_statement &s, size_t i)
{
    if (i >= s.arguments.size())
        ptx_refuse(s.line, "'" + s.text + "': too few operands");
    return s.arguments[i];
}

struct place {
    std::string base; /* a register, or a name */
    long offset;
};

static inline struct place place_of(const struct ptx_statement &s, const std::string &operand)
{
    if (operand[0] != '[' || operand.back() != ']')
        ptx_refuse(s.line, "'" + s.text + "': no address");
    const std::string inside = operand.substr(1, operand.size() - 2);
    const size_t plus = inside.find('+');
    if (plus == std::string::npos)
        return {inside, 0};
    return {inside.substr(0, plus), std::stol(inside.substr(plus + 1))};
}

#endif
