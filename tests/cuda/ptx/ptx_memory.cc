/* ptx_memory.cc - loads and stores, copies under way, and what threads do together. */
#include "ptx_words.h"

using std::string;

/* ---- addresses */

/* A pointer of the host to `bytes` bytes, after the checks of the space. */
static string address(const struct ptx_scope &scope, const struct ptx_statement &s,
                      const string &operand, string space, size_t bytes)
{
    const struct place at = place_of(s, operand);
    const string size = std::to_string(bytes), site = ptx_site(s);
    const auto parameter = scope.parameter.find(at.base);
    if (parameter != scope.parameter.end()) { /* known here and now */
        if (at.offset < 0 || (size_t)at.offset + bytes > parameter->second.bytes)
            ptx_refuse(s.line, "'" + s.text + "' leaves the parameter");
        return "(char *)(uintptr_t)" + ptx_value(scope, s, at.base, "uint64_t") + " + " +
               std::to_string(at.offset);
    }
    const string sum = "(" + ptx_value(scope, s, at.base, "uint64_t") + " + (uint64_t)" +
                       std::to_string(at.offset) + "ll)";
    if (space == "param")
        return "ptx_within(parameter_space, " + sum + ", " + size + ", " + site + ")";
    if (space == "local")
        return "ptx_within(local_space, " + sum + ", " + size + ", " + site + ")";
    if (space == "shared") /* an address of 32 bits */
        return "ptx_shared((uint32_t)" + sum + ", " + size + ", " + site + ")";
    if (space == "global")
        return "ptx_global(" + sum + ", " + size + ", " + site + ")";
    return "ptx_generic(local_space, " + sum + ", " + size + ", " + site + ")";
}

static string space_of(const struct ptx_statement &s)
{
    const string space = one_of(s, {"param", "global", "shared", "shared::cta", "local", "const"});
    return space == "const" ? "global" : space == "shared::cta" ? "shared" : space;
}

static const std::vector<string> SPACES = {"param",
                                           "global",
                                           "shared",
                                           "shared::cta",
                                           "local",
                                           "const",
                                           "v2",
                                           "v4",
                                           "nc",
                                           "ca",
                                           "cg",
                                           "cs",
                                           "lu",
                                           "cv",
                                           "wb",
                                           "wt",
                                           "relaxed",
                                           "weak",
                                           "volatile",
                                           "cta",
                                           "gpu",
                                           "sys",
                                           "L1::no_allocate",
                                           "L1::evict_last",
                                           "L1::evict_first",
                                           "L2::128B",
                                           "L2::64B"};

static string load_or_store(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const bool load = s.operation[0] != "st";
    const string type = ptx_type(s.line, s.operation.back()), vector = one_of(s, {"v2", "v4"});
    const size_t word = ptx_size(s.operation.back()),
                 count = vector.empty() ? 1 : (size_t)(vector[1] - '0');
    const std::vector<string> parts = ptx_elements(argument(s, load ? 0 : 1));
    allow(s, SPACES);
    if (parts.size() != count || !word)
        ptx_refuse(s.line, "'" + s.text + "' does not fit together");
    string text = "{ char *const at = " +
                  address(scope, s, argument(s, load ? 1 : 0), space_of(s), word * count) + "; ";
    for (size_t i = 0; i < count; i++) {
        const string at = "at + " + std::to_string(i * word);
        text += load ? ptx_assign(scope, parts[i], "ptx_get<" + type + ">(" + at + ")", type)
                     : "ptx_set(" + at + ", " + ptx_value(scope, s, parts[i], type) + ");";
    }
    if (!load && scope.asynchronous && (space_of(s) == "shared" || space_of(s).empty()))
        text += " ptx_wrote(at, " + std::to_string(word * count) + ");";
    return text + " }";
}

/* atom gives what was there, red does not. */
static string atomic(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const bool gives = s.operation[0] == "atom";
    const string what =
        one_of(s, {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
    const string type = ptx_type(s.line, s.operation.back());
    const size_t first = gives ? 1 : 0;
    allow(s, {"global", "shared", "shared::cta", "relaxed", "acq_rel", "acquire", "release", "cta",
              "gpu", "sys", what});
    if (what.empty() || type == "float" || type == "double")
        ptx_refuse(s.line, "'" + s.text + "': atomics of integers alone are known");
    string list = address(scope, s, argument(s, first), space_of(s), ptx_size(s.operation.back()));
    for (size_t i = first + 1; i < s.arguments.size(); i++)
        list += ", " + ptx_value(scope, s, s.arguments[i], type);
    const string call = "ptx_atomic_" + what + "<" + type + ">(" + list + ")";
    return gives ? ptx_assign(scope, argument(s, 0), call, type) : call + ";";
}

/* ---- copies under way */

static string copy(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    if (one_of(s, {"commit_group"}) != "")
        return "cuda_host_copy_commit();";
    if (one_of(s, {"wait_all"}) != "")
        return "cuda_host_copy_commit(); cuda_host_copy_wait(0);";
    if (one_of(s, {"wait_group"}) != "")
        return "cuda_host_copy_wait((int)" + ptx_value(scope, s, argument(s, 0), "uint32_t") + ");";
    allow(s, {"async", "cg", "ca", "shared", "shared::cta", "global", "L2::128B", "L2::64B"});
    if (argument(s, 2) != "16")
        ptx_refuse(s.line, "'" + s.text + "': copies of 16 bytes alone are known");
    const string bytes =
        s.arguments.size() > 3 ? ptx_value(scope, s, s.arguments[3], "uint32_t") : "16u";
    const struct place from = place_of(s, argument(s, 1));
    return "ptx_copy_async(" + address(scope, s, argument(s, 0), "shared", 16) + ", " +
           ptx_value(scope, s, from.base, "uint64_t") + " + (uint64_t)" +
           std::to_string(from.offset) + "ll, " + bytes + ", " + ptx_site(s) + ");";
}

/* ---- fragments */

static string multiply(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    static const std::vector<string> known = {"mma", "sync", "aligned", "m16n8k16", "row",
                                              "col", "f32",  "bf16",    "bf16",     "f32"};
    if (s.operation != known)
        ptx_refuse(s.line, "'" + s.text + "': this shape is not known");
    string text = "{ ";
    static const char *const names[] = {"to", "a", "b", "sums"};
    static const size_t counts[] = {4, 4, 2, 4};
    for (size_t which = 1; which < 4; which++) {
        const string type = which == 3 ? "float" : "uint32_t";
        const std::vector<string> parts = ptx_elements(argument(s, which));
        if (parts.size() != counts[which])
            ptx_refuse(s.line, "'" + s.text + "': fragments of other sizes");
        text += type + " " + names[which] + "[] = {";
        for (const string &p : parts)
            text += ptx_value(scope, s, p, type) + ", ";
        text += "}; ";
    }
    text += "cuda_host_mma(sums, a, b); ";
    const std::vector<string> to = ptx_elements(argument(s, 0));
    for (size_t i = 0; i < 4; i++)
        text += ptx_assign(scope, to[i], "sums[" + std::to_string(i) + "]", "float");
    return text + " }";
}

static string load_matrices(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    allow(s, {"sync", "aligned", "m8n8", "x4", "trans", "shared", "shared::cta"});
    const std::vector<string> to = ptx_elements(argument(s, 0));
    if (one_of(s, {"x4"}).empty() || to.size() != 4)
        ptx_refuse(s.line, "'" + s.text + "': four matrices alone are known");
    string text = "{ uint32_t to[4]; cuda_host_ldmatrix(to, " +
                  address(scope, s, argument(s, 1), "shared", 16) + ", " +
                  (one_of(s, {"trans"}).empty() ? "false" : "true") + "); ";
    for (size_t i = 0; i < 4; i++)
        text += ptx_assign(scope, to[i], "to[" + std::to_string(i) + "]", "uint32_t");
    return text + " }";
}

/* ---- barriers, votes and shuffles */

static string barrier(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    if (one_of(s, {"warp"}) != "")
        return "__syncwarp(" + ptx_value(scope, s, argument(s, 0), "uint32_t") + ");";
    const string reduced = one_of(s, {"popc", "and", "or"});
    if (one_of(s, {"red"}) != "") {
        const string call = "__syncthreads_" + (reduced == "popc" ? "count" : reduced) + "(" +
                            ptx_value(scope, s, argument(s, 2), "bool") + ")";
        return ptx_assign(scope, argument(s, 0), call, reduced == "popc" ? "uint32_t" : "bool");
    }
    if (one_of(s, {"sync"}).empty() || s.arguments.size() != 1 || s.arguments[0] != "0")
        ptx_refuse(s.line, "'" + s.text + "': barrier 0 of the whole block alone is known");
    return "__syncthreads();";
}

static string shuffle(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const string how = one_of(s, {"idx", "bfly", "down", "up"});
    const string name = how == "idx"    ? "CUDA_HOST_IDX"
                        : how == "bfly" ? "CUDA_HOST_XOR"
                        : how == "down" ? "CUDA_HOST_DOWN"
                                        : "CUDA_HOST_UP";
    const string &to = argument(s, 0);
    const size_t bar = to.find('|');
    string text = "{ bool inside; ", list;
    for (size_t i = 1; i < 5; i++)
        list += ", " + ptx_value(scope, s, argument(s, i), "uint32_t");
    text += ptx_assign(scope, to.substr(0, bar), "ptx_shuffle(&inside, " + name + list + ")",
                       "uint32_t");
    if (bar != string::npos)
        text += ptx_assign(scope, to.substr(bar + 1), "inside", "bool");
    return text + " }";
}

static string vote(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const string predicate = ptx_value(scope, s, argument(s, 1), "bool");
    const string mask = ptx_value(scope, s, argument(s, 2), "uint32_t"),
                 list = "(" + mask + ", " + predicate + ")";
    const string how = one_of(s, {"any", "all", "ballot"});
    if (how == "ballot")
        return ptx_assign(scope, argument(s, 0), "__ballot_sync" + list, "uint32_t");
    if (how.empty())
        ptx_refuse(s.line, "'" + s.text + "' is not known");
    return ptx_assign(scope, argument(s, 0), "__" + how + "_sync" + list, "bool");
}

string ptx_emit_memory(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const string &root = s.operation[0];
    const string hopper = ptx_emit_hopper(scope, s);
    if (!hopper.empty())
        return hopper;
    if (root == "ld" || root == "ldu" || root == "st")
        return load_or_store(scope, s);
    if (root == "atom" || root == "red")
        return atomic(scope, s);
    if (root == "cp")
        return copy(scope, s);
    if (root == "mma")
        return multiply(scope, s);
    if (root == "ldmatrix")
        return load_matrices(scope, s);
    if (root == "bar" || root == "barrier")
        return barrier(scope, s);
    if (root == "shfl")
        return shuffle(scope, s);
    if (root == "vote")
        return vote(scope, s);
    if (root == "membar" || root == "fence") /* one thread runs at a time, and memory is in order */
        return ";";
    if (root == "cvta") { /* generic addresses of global memory are its own */
        const string type = "uint64_t", from = ptx_value(scope, s, argument(s, 1), type);
        if (one_of(s, {"shared"}).empty())
            return ptx_assign(scope, argument(s, 0), from, type);
        return ptx_assign(
            scope, argument(s, 0),
            (one_of(s, {"to"}).empty() ? "ptx_from_shared(" : "ptx_to_shared(") + from + ")", type);
    }
    return "";
}
