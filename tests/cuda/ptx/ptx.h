/* ptx.h - a module of PTX as the translator reads it: text in, lists of statements out.
 *
 * ptx2cc turns the PTX that nvcc prints for a kernel into C++ that the emulation of tests/cuda/host
 * runs: what is then tested without a GPU is what the compiler made of a kernel, not the kernel's
 * source once more. It knows the part of PTX ISA 9.0 that this backend's kernels come to, and
 * refuses what it does not know with the line.
 *
 *   ptx_parse.cc    text to statements
 *   ptx_emit.cc     functions, registers, variables, control, calls
 *   ptx_memory.cc   instructions that touch memory, or other threads
 *   ptx_hopper.cc   those of compute capability 9.0 alone
 *   ptx_numbers.cc  all others
 *   ptx_run.h       what the C++ calls; ptx_numbers.h, ptx_spaces.h and ptx_warp.h belong to it */
#ifndef PTX_H
#define PTX_H

#include <map>
#include <string>
#include <vector>

/* A variable of one of the state spaces, or a parameter. */
struct ptx_variable {
    std::string name;
    size_t bytes = 0, align = 1;
    std::vector<std::string> values; /* initial bytes or words, as written */
    size_t word = 1;                 /* bytes of each */
    bool external = false;           /* the dynamic shared memory */
};

struct ptx_statement {
    enum { LABEL, OPEN, CLOSE, REGISTERS, PARAMETER, INSTRUCTION } kind;
    int line;
    std::string text;                   /* as written, in one line */
    std::string name;                   /* of the label */
    struct ptx_variable variable;       /* PARAMETER: of a call */
    std::string guard;                  /* predicate, with ! where it is negated; or empty */
    std::vector<std::string> operation; /* "ld", "global", "v4", "f32" */
    std::vector<std::string> arguments; /* split at commas outside of brackets */
};

struct ptx_function {
    std::string name;
    bool entry = false; /* a kernel */
    std::vector<struct ptx_variable> parameters, results, shared, local;
    std::vector<struct ptx_statement> body;
};

struct ptx_module {
    std::vector<struct ptx_variable> global, shared; /* those outside of functions */
    std::vector<struct ptx_function> functions;
};

/* Ends the program with the line and what is wrong with it. */
[[noreturn]] void ptx_refuse(int line, const std::string &what);

struct ptx_module ptx_parse(const std::string &text);
/* Bytes of a number of a type such as "f32"; 0 for predicates and what is no type. */
size_t ptx_size(const std::string &type);

/* ---- C++ out of statements; the function under way */

struct ptx_scope {
    const struct ptx_module *module;
    const struct ptx_function *function;
    std::map<std::string, std::string> registers;         /* their types in C++ */
    std::map<std::string, size_t> shared;                 /* places in shared memory */
    std::map<std::string, struct ptx_variable> parameter; /* in memory of the host */
    size_t shared_bytes = 0, parameter_bytes = 0;
    bool asynchronous = false; /* the module has products or copies that need fences after stores */
};

/* The C++ type of a type of PTX. */
std::string ptx_type(int line, const std::string &type);
/* An operand, converted to a type of C++; an assignment of a value of a type, to "_": of none. */
std::string ptx_value(const struct ptx_scope &scope, const struct ptx_statement &s,
                      const std::string &operand, const std::string &type);
std::string ptx_assign(const struct ptx_scope &scope, const std::string &operand,
                       const std::string &value, const std::string &type);
/* The operands of {a, b, c}, or one alone. */
std::vector<std::string> ptx_elements(const std::string &operand);
/* The statement as a string of C++, for traps. */
std::string ptx_site(const struct ptx_statement &s);

/* The C++ of an instruction; empty where it is none of theirs. */
std::string ptx_emit_memory(const struct ptx_scope &scope, const struct ptx_statement &s);
std::string ptx_emit_hopper(const struct ptx_scope &scope, const struct ptx_statement &s);
std::string ptx_emit_numbers(const struct ptx_scope &scope, const struct ptx_statement &s);

/* The whole module; only kernels whose name contains one of `only`, where that is not empty. */
std::string ptx_emit(const struct ptx_module &module, const std::vector<std::string> &only);

#endif
