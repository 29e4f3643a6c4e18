/* ptx_hopper.cc - instructions of compute capability 9.0 alone: products of warpgroups, barriers in
 * shared memory, copies of tensors. Products are done at once: nvcc moves their sums between
 * registers before they are waited for, which ptxas sees through. */
#include "ptx_words.h"

#include <stdio.h>

using std::string;

/* An address in shared memory: 32 bits, from a register or a name. */
static string shared_address(const struct ptx_scope &scope, const struct ptx_statement &s,
                             const string &operand)
{
    const struct place at = place_of(s, operand);
    return "(" + ptx_value(scope, s, at.base, "uint32_t") + " + (uint32_t)" +
           std::to_string(at.offset) + ")";
}

static bool has(const struct ptx_statement &s, const string &word)
{
    return !one_of(s, {word}).empty();
}

static void need_shared(const struct ptx_statement &s)
{
    if (one_of(s, {"shared", "shared::cta"}).empty())
        ptx_refuse(s.line, "'" + s.text + "': generic addresses are not known here");
}

/* ---- products of warpgroups */

static string array(const struct ptx_scope &scope, const struct ptx_statement &s,
                    const string &type, const string &name, const std::vector<string> &parts)
{
    string text = type + " " + name + "[] = {";
    for (const string &p : parts)
        text += ptx_value(scope, s, p, type) + ", ";
    return text + "}; ";
}

/* mma_async {d...}, {a...} or A, B, p, 1, 1, [tnspA,] tnspB */
static string multiply(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    int n = 0, end = 0;
    const bool registers = argument(s, 1)[0] == '{';
    const size_t first = 4, count = registers ? 7 : 8;
    const std::vector<string> sums = ptx_elements(argument(s, 0)), a = ptx_elements(s.arguments[1]);
    if (s.operation.size() != 8 || s.operation[2] != "sync" || s.operation[3] != "aligned" ||
        sscanf(s.operation[4].c_str(), "m64n%dk16%n", &n, &end) != 1 ||
        s.operation[4].size() != (size_t)end || n < 8 || n > 256 || n % 8 ||
        s.operation[5] != "f32" || s.operation[6] != "bf16" || s.operation[7] != "bf16")
        ptx_refuse(s.line, "'" + s.text + "': this shape is not known");
    if (s.arguments.size() != count || sums.size() != (size_t)n / 2 || (registers && a.size() != 4))
        ptx_refuse(s.line, "'" + s.text + "' does not fit together");
    if (s.arguments[first] != "1" || s.arguments[first + 1] != "1")
        ptx_refuse(s.line, "'" + s.text + "': factors of A and B other than 1 are not known");
    string text = "{ " + array(scope, s, "float", "sums", sums);
    if (registers)
        text += array(scope, s, "uint32_t", "a", a);
    text += "cuda_host_wgmma_now(sums, " + std::to_string(n) + ", " +
            (registers ? "a, 0" : "NULL, " + ptx_value(scope, s, s.arguments[1], "uint64_t")) +
            ", " + ptx_value(scope, s, s.arguments[2], "uint64_t") + ", " +
            ptx_value(scope, s, s.arguments[3], "bool") + ", " +
            (registers ? "false" : ptx_value(scope, s, s.arguments[6], "bool")) + ", " +
            ptx_value(scope, s, s.arguments[count - 1], "bool") + "); ";
    for (size_t i = 0; i < sums.size(); i++)
        text += ptx_assign(scope, sums[i], "sums[" + std::to_string(i) + "]", "float");
    return text + " }";
}

static string warpgroup(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    if (has(s, "mma_async"))
        return multiply(scope, s);
    allow(s, {"fence", "commit_group", "wait_group", "sync", "aligned"});
    if (has(s, "fence"))
        return "cuda_host_wgmma_fence();";
    if (has(s, "commit_group"))
        return "cuda_host_wgmma_commit();";
    return "cuda_host_wgmma_wait((int)" + ptx_value(scope, s, argument(s, 0), "uint32_t") + ");";
}

/* ---- barriers in shared memory */

/* arrive of one thread, whose token nobody looks at */
static string arrive(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const string at = shared_address(scope, s, argument(s, 1));
    const string token = ptx_assign(scope, argument(s, 0), "PTX_NONSENSE_uint64_t", "uint64_t");
    allow(s, {"arrive", "expect_tx", "shared", "shared::cta", "release", "cta"});
    if (has(s, "expect_tx"))
        return "{ cuda_host_barrier_expect(" + at + ", " +
               ptx_value(scope, s, argument(s, 2), "uint32_t") + "); " + token + " }";
    if (s.arguments.size() > 2 && s.arguments[2] != "1")
        ptx_refuse(s.line, "'" + s.text + "': more arrivals than one are not known");
    return "{ cuda_host_barrier_arrive(" + at + "); " + token + " }";
}

static string barrier(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    need_shared(s);
    if (has(s, "arrive"))
        return arrive(scope, s);
    allow(s, {"init", "try_wait", "parity", "shared", "shared::cta", "acquire", "cta"});
    if (has(s, "init"))
        return "cuda_host_barrier_init(" + shared_address(scope, s, argument(s, 0)) + ", " +
               ptx_value(scope, s, argument(s, 1), "uint32_t") + ");";
    if (!has(s, "try_wait") || !has(s, "parity"))
        ptx_refuse(s.line, "'" + s.text + "': waits for a parity alone are known");
    return ptx_assign(scope, argument(s, 0),
                      "cuda_host_barrier_done(" + shared_address(scope, s, argument(s, 1)) + ", " +
                          ptx_value(scope, s, argument(s, 2), "uint32_t") + ")",
                      "bool");
}

/* ---- copies of tensors */

/* A map is in a parameter of the kernel or in global memory. */
static string tensor_map(const struct ptx_scope &scope, const struct ptx_statement &s,
                         const string &operand)
{
    const struct place at = place_of(s, operand);
    if (!scope.function->entry)
        ptx_refuse(s.line, "'" + s.text + "': maps are known in kernels alone");
    return "ptx_tensor_map(parameter_space, " + ptx_value(scope, s, at.base, "uint64_t") +
           " + (uint64_t)" + std::to_string(at.offset) + "ll, " + ptx_site(s) + ")";
}

static string copy(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const string &from = argument(s, 1);
    const size_t comma = from.find(',');
    allow(s, {"async", "bulk", "tensor", "4d", "shared::cluster", "shared::cta", "global", "tile",
              "mbarrier::complete_tx::bytes", "L2::cache_hint"});
    if (!has(s, "tensor") || !has(s, "4d") || !has(s, "mbarrier::complete_tx::bytes") ||
        one_of(s, {"shared::cluster", "shared::cta"}).empty() || comma == string::npos)
        ptx_refuse(s.line, "'" + s.text +
                               "': copies of four dimensions to shared memory alone are "
                               "known");
    const std::vector<string> coordinates =
        ptx_elements(from.substr(from.find('{'), from.find('}') - from.find('{') + 1));
    if (coordinates.size() != 4)
        ptx_refuse(s.line, "'" + s.text + "' does not fit together");
    string text = "cuda_host_tensor_copy(" + shared_address(scope, s, argument(s, 0)) + ", " +
                  tensor_map(scope, s, from.substr(0, comma) + "]");
    for (const string &c : coordinates)
        text += ", (int)" + ptx_value(scope, s, c, "uint32_t");
    return text + ", " + shared_address(scope, s, argument(s, 2)) + ");";
}

string ptx_emit_hopper(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const string &root = s.operation[0];
    if (root == "wgmma")
        return warpgroup(scope, s);
    if (root == "mbarrier")
        return barrier(scope, s);
    if (root == "cp" && has(s, "bulk"))
        return copy(scope, s);
    if (root == "prefetch" && has(s, "tensormap"))
        return "(void)" + tensor_map(scope, s, argument(s, 0)) + ";";
    if (root == "fence" && has(s, "proxy")) {
        allow(s, {"proxy", "async", "shared::cta", "global"});
        return "cuda_host_fence_async();";
    }
    return "";
}
