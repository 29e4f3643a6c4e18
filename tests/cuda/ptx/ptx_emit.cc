/* ptx_emit.cc - functions, registers, variables, control and calls as C++.
 *
 * A kernel becomes a function that one thread of the emulation runs with the bytes of its
 * parameters; registers are its locals, and hold nonsense until they are written. */
#include "ptx.h"

#include <string.h>

using std::string;

/* ---- names and operands */

string ptx_type(int line, const string &type)
{
    static const std::map<string, string> types = {
        {"pred", "bool"},    {"b8", "uint8_t"},        {"u8", "uint8_t"},     {"s8", "int8_t"},
        {"b16", "uint16_t"}, {"u16", "uint16_t"},      {"s16", "int16_t"},    {"b32", "uint32_t"},
        {"u32", "uint32_t"}, {"s32", "int32_t"},       {"b64", "uint64_t"},   {"u64", "uint64_t"},
        {"s64", "int64_t"},  {"f32", "float"},         {"f64", "double"},     {"bf16", "ptx_bf16"},
        {"f16", "ptx_f16"},  {"bf16x2", "ptx_bf16x2"}, {"f16x2", "ptx_f16x2"}};
    const auto found = types.find(type);
    if (found == types.end())
        ptx_refuse(line, "type ." + type + " is not known");
    return found->second;
}

/* %r1 as v_r1: no word of C++, no name of the runtime. */
static string local_name(const string &name)
{
    string s = "v_";
    for (const char x : name)
        s += x == '%' ? "" : x == '.' || x == '$' ? "_" : string(1, x);
    return s;
}

static bool literal(const string &s)
{
    return !s.empty() && (isdigit((unsigned char)s[0]) || (s[0] == '-' && s.size() > 1));
}

static size_t integer_bytes(const string &type)
{
    const size_t at = type.find("int");
    return at == string::npos ? 0 : (size_t)atoi(type.c_str() + at + 3) / 8;
}

static string literal_value(const string &s, const string &type)
{
    if (s.compare(0, 2, "0f") == 0 || s.compare(0, 2, "0F") == 0)
        return "ptx_as<" + type + ", uint32_t>(0x" + s.substr(2) + "u)";
    if (s.compare(0, 2, "0d") == 0 || s.compare(0, 2, "0D") == 0)
        return "ptx_as<" + type + ", uint64_t>(0x" + s.substr(2) + "u)";
    string digits = s;
    while (digits.back() == 'U')
        digits.pop_back();
    const bool negative = digits[0] == '-';
    const string bits = (negative ? "0 - " : "") + digits.substr(negative) + "ull";
    return integer_bytes(type) ? "(" + type + ")(" + bits + ")"
                               : "ptx_as<" + type + ", uint64_t>(" + bits + ")";
}

/* Of a register, in C++; names of the body's blocks are in the table as well. */
static const string &register_type(const struct ptx_scope &scope, const string &name)
{
    static const string none;
    const auto found = scope.registers.find(name);
    return found == scope.registers.end() ? none : found->second;
}

/* A register that is read as another type: conversions of integers are cheaper to compile than the
 * template for all types. */
static string register_value(const struct ptx_scope &scope, const struct ptx_statement &s,
                             const string &name, const string &type)
{
    const string &of = register_type(scope, name);
    if (of.empty())
        ptx_refuse(s.line, "register " + name + " is not declared");
    if (of == type)
        return local_name(name);
    if (integer_bytes(of) && integer_bytes(type))
        return "(" + type + ")" + local_name(name);
    return "ptx_as<" + type + ", " + of + ">(" + local_name(name) + ")";
}

string ptx_value(const struct ptx_scope &scope, const struct ptx_statement &s,
                 const string &operand, const string &type)
{
    static const std::map<string, string> special = {{"%tid", "threadIdx"},
                                                     {"%ntid", "blockDim"},
                                                     {"%ctaid", "blockIdx"},
                                                     {"%nctaid", "gridDim"}};
    if (!register_type(scope, operand).empty()) /* of any name: inline assembly declares some */
        return register_value(scope, s, operand, type);
    if (operand[0] == '!')
        return "!" + ptx_value(scope, s, operand.substr(1), type);
    if (operand == "%laneid")
        return "ptx_as<" + type + ">(ptx_lane())";
    if (operand == "WARP_SZ")
        return "ptx_as<" + type + ">((uint32_t)32)";
    if (operand[0] == '%') {
        const size_t dot = operand.find('.');
        if (dot == string::npos)
            return register_value(scope, s, operand, type);
        const auto found = special.find(operand.substr(0, dot));
        if (found == special.end())
            ptx_refuse(s.line, "special register " + operand + " is not known");
        return "ptx_as<" + type + ">((uint32_t)" + found->second + operand.substr(dot) + ")";
    }
    if (literal(operand))
        return literal_value(operand, type);
    const auto shared = scope.shared.find(operand);
    if (shared != scope.shared.end())
        return "ptx_as<" + type + ">((uint64_t)" + std::to_string(shared->second) + "u)";
    if (scope.parameter.count(operand))
        return "ptx_as<" + type + ">((uint64_t)(uintptr_t)" + local_name(operand) + ")";
    for (const struct ptx_variable &v : scope.function->local)
        if (v.name == operand)
            return "ptx_as<" + type + ">((uint64_t)(uintptr_t)" + local_name(operand) + ")";
    for (const struct ptx_variable &v : scope.module->global)
        if (v.name == operand)
            return "ptx_as<" + type + ">((uint64_t)(uintptr_t)" + local_name(operand) + ")";
    ptx_refuse(s.line, "operand " + operand + " is not known");
}

string ptx_assign(const struct ptx_scope &scope, const string &operand, const string &value,
                  const string &type)
{
    const string of = register_type(scope, operand), name = local_name(operand);
    if (operand == "_")
        return "(void)(" + value + ");";
    if (of == type)
        return name + " = " + value + ";";
    if (integer_bytes(of) && integer_bytes(type)) /* extended by its sign, where its type has one */
        return name + " = (" + of + ")(" + type + ")(" + value + ");";
    return "ptx_put<" + of + ", " + type + ">(" + name + ", " + value + ");";
}

std::vector<string> ptx_elements(const string &operand)
{
    std::vector<string> list;
    if (operand[0] != '{')
        return {operand};
    string one;
    for (const char x : operand.substr(1))
        if (x == ',' || x == '}')
            list.push_back(one), one.clear();
        else if (x != ' ')
            one += x;
    return list;
}

string ptx_site(const struct ptx_statement &s)
{
    return "\"line " + std::to_string(s.line) + ": " + s.text + "\"";
}

/* ---- statements */

/* "%r<5>" is five registers, "%temp" one. */
static std::vector<string> register_names(const struct ptx_statement &s)
{
    std::vector<string> list;
    for (const string &name : s.arguments) {
        const size_t angle = name.find('<');
        if (angle == string::npos)
            list.push_back(name);
        else
            for (int i = 0; i < std::stoi(name.substr(angle + 1)); i++)
                list.push_back(name.substr(0, angle) + std::to_string(i));
    }
    return list;
}

/* What they hold at first looks like nothing. */
static string registers(const struct ptx_statement &s)
{
    const string type = ptx_type(s.line, s.operation[0]);
    string text = type;
    const char *between = " ";
    for (const string &name : register_names(s)) {
        text += between + local_name(name) + " = PTX_NONSENSE_" + type;
        between = ", ";
    }
    return text == type ? "" : text + ";";
}

/* call (result), function, (arguments) */
static string call(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    string list;
    const string *callee = NULL;
    for (const string &argument : s.arguments) {
        if (argument[0] != '(') {
            callee = &argument;
            continue;
        }
        struct ptx_statement inner = s;
        string one;
        for (const char x : argument.substr(1))
            if (x == ',' || x == ')') {
                if (!one.empty()) {
                    if (!scope.parameter.count(one))
                        ptx_refuse(s.line, "argument " + one + " is not known");
                    list += (list.empty() ? "" : ", ") + local_name(one);
                }
                one.clear();
            } else if (x != ' ') {
                one += x;
            }
    }
    if (!callee)
        ptx_refuse(s.line, "a call of nothing");
    for (const struct ptx_function &f : scope.module->functions)
        if (f.name == *callee)
            return "fn_" + f.name + "(" + list + ");";
    ptx_refuse(s.line, "a call of " + *callee + ", which is not in the module");
}

static string instruction(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    const string &root = s.operation[0];
    string text;
    if (root == "ret" || root == "exit")
        text = "return;";
    else if (root == "trap")
        text = "ptx_trap(" + ptx_site(s) + ", \"trap\");";
    else if (root == "nanosleep") /* blocks before have run, and those after come later */
        text = "ptx_trap(" + ptx_site(s) + ", \"waits for another block\");";
    else if (root == "bra")
        text = "goto " + local_name(s.arguments[0]) + ";";
    else if (root == "call")
        text = call(scope, s);
    else
        text = ptx_emit_memory(scope, s);
    if (text.empty())
        text = ptx_emit_numbers(scope, s);
    if (text.empty())
        ptx_refuse(s.line, "instruction '" + s.text + "' is not known");
    if (s.guard.empty())
        return text;
    return "if (" + ptx_value(scope, s, s.guard, "bool") + ") { " + text + " }";
}

static string statement(const struct ptx_scope &scope, const struct ptx_statement &s)
{
    switch (s.kind) {
    case ptx_statement::LABEL:
        return local_name(s.name) + ":;";
    case ptx_statement::CLOSE:
        return "}";
    case ptx_statement::REGISTERS:
        return registers(s);
    case ptx_statement::PARAMETER:
        return "alignas(16) char " + local_name(s.variable.name) + "[" +
               std::to_string(s.variable.bytes) + "];";
    default:
        return instruction(scope, s);
    }
}

/* A brace with the labels that are known in its block alone: those of inline assembly, which
 * repeats. */
static string open_block(const struct ptx_function &f, size_t at)
{
    string labels;
    for (int depth = 0; at < f.body.size(); at++) {
        const struct ptx_statement &s = f.body[at];
        depth += s.kind == ptx_statement::OPEN ? 1 : s.kind == ptx_statement::CLOSE ? -1 : 0;
        if (!depth)
            break;
        if (depth == 1 && s.kind == ptx_statement::LABEL)
            labels += (labels.empty() ? " __label__ " : ", ") + local_name(s.name);
    }
    return "{" + labels + (labels.empty() ? "" : ";");
}

/* ---- functions */

static size_t up(size_t x, size_t align)
{
    return (x + align - 1) / align * align;
}

static bool mentions(const struct ptx_function &f, const string &name)
{
    for (const struct ptx_statement &s : f.body)
        for (const string &argument : s.arguments)
            if (argument.find(name) != string::npos)
                return true;
    return false;
}

/* Shared memory of a kernel: what it and its module declare, then what the launch adds. */
static void place_shared(struct ptx_scope &scope)
{
    std::vector<struct ptx_variable> all = scope.function->shared;
    for (const struct ptx_variable &v : scope.module->shared)
        if (!v.external && mentions(*scope.function, v.name))
            all.push_back(v);
    for (const struct ptx_variable &v : all) {
        scope.shared[v.name] = up(scope.shared_bytes, v.align);
        scope.shared_bytes = scope.shared[v.name] + v.bytes;
    }
    scope.shared_bytes = up(scope.shared_bytes, 16);
    for (const struct ptx_variable &v : scope.module->shared)
        if (v.external) {
            scope.shared_bytes = up(scope.shared_bytes, v.align);
            scope.shared[v.name] = scope.shared_bytes;
        }
}

static bool asynchronous(const struct ptx_module &m)
{
    for (const struct ptx_function &f : m.functions)
        for (const struct ptx_statement &s : f.body)
            if (s.kind == ptx_statement::INSTRUCTION &&
                (s.operation[0] == "wgmma" || s.text.find("cp.async.bulk") != string::npos))
                return true;
    return false;
}

static struct ptx_scope scope_of(const struct ptx_module &m, const struct ptx_function &f)
{
    struct ptx_scope scope;
    scope.module = &m;
    scope.function = &f;
    scope.asynchronous = asynchronous(m);
    place_shared(scope);
    for (const struct ptx_variable &v : f.parameters) {
        const size_t at = up(scope.parameter_bytes, v.align);
        scope.parameter[v.name] = v;
        scope.parameter_bytes = at + v.bytes;
    }
    for (const struct ptx_variable &v : f.results)
        scope.parameter[v.name] = v;
    for (const struct ptx_statement &s : f.body)
        if (s.kind == ptx_statement::PARAMETER)
            scope.parameter[s.variable.name] = s.variable;
    for (const struct ptx_statement &s : f.body)
        if (s.kind == ptx_statement::REGISTERS)
            for (const string &name : register_names(s)) {
                const string type = ptx_type(s.line, s.operation[0]);
                if (!scope.registers.emplace(name, type).second && scope.registers[name] != type)
                    ptx_refuse(s.line, name + " is declared with two types");
            }
    return scope;
}

/* Pointers to the parameters of a kernel, which lie one after the other. */
static string kernel_parameters(const struct ptx_scope &scope)
{
    string text;
    size_t at = 0;
    for (const struct ptx_variable &v : scope.function->parameters) {
        at = up(at, v.align);
        text += "const char *const " + local_name(v.name) + " = parameters + " +
                std::to_string(at) + ";\n";
        text += "(void)" + local_name(v.name) + ";\n";
        at += v.bytes;
    }
    return text + "const struct ptx_range parameter_space = {parameters, " + std::to_string(at) +
           "};\n(void)parameter_space;\n";
}

static string head(const struct ptx_scope &scope, int number)
{
    const struct ptx_function &f = *scope.function;
    if (f.entry)
        return "static void kernel_" + std::to_string(number) + "(const char *parameters)";
    string list;
    for (const struct ptx_variable &v : f.results)
        list += (list.empty() ? "char *" : ", char *") + local_name(v.name);
    for (const struct ptx_variable &v : f.parameters)
        list += (list.empty() ? "const char *" : ", const char *") + local_name(v.name);
    return "static void fn_" + f.name + "(" + list + ")";
}

static string function(const struct ptx_scope &scope, int number)
{
    string text = "/* " + scope.function->name + " */\n" + head(scope, number) + "\n{\n",
           space = "NULL, 0";
    if (scope.function->entry)
        text += kernel_parameters(scope);
    for (const struct ptx_variable &v : scope.function->local) {
        const string name = local_name(v.name);
        text += "alignas(16) char " + name + "[" + std::to_string(v.bytes) + "];\n";
        text += "memset(" + name + ", 0xff, sizeof(" + name + "));\n";
        space = name + ", " + std::to_string(v.bytes);
    }
    if (scope.function->local.size() > 1)
        ptx_refuse(0, scope.function->name + ": more than one local variable");
    text += "const struct ptx_range local_space = {" + space + "};\n(void)local_space;\n";
    text += "bool carry = false;\n(void)carry;\n";
    const std::vector<struct ptx_statement> &body = scope.function->body;
    for (size_t i = 0; i < body.size(); i++)
        text += (body[i].kind == ptx_statement::OPEN ? open_block(*scope.function, i)
                                                     : statement(scope, body[i])) +
                "\n";
    return text + "}\n\n";
}

/* ---- the module */

static string global(const struct ptx_variable &v)
{
    string values;
    for (const string &x : v.values)
        values += (values.empty() ? "" : ", ") + x;
    const string type = v.word == 8   ? "uint64_t"
                        : v.word == 4 ? "uint32_t"
                        : v.word == 2 ? "uint16_t"
                                      : "uint8_t";
    return "alignas(" + std::to_string(v.align) + ") static " + type + " " + local_name(v.name) +
           "[" + std::to_string(v.bytes / v.word) + "] = {" + values + "};\n";
}

static bool wanted(const struct ptx_function &f, const std::vector<string> &only)
{
    if (!f.entry)
        return true;
    for (const string &part : only)
        if (f.name.find(part) != string::npos)
            return true;
    return only.empty();
}

string ptx_emit(const struct ptx_module &module, const std::vector<string> &only)
{
    string text = "#include \"tests/cuda/ptx/ptx_run.h\"\n\n", kernels, globals, functions;
    int number = 0;
    for (const struct ptx_variable &v : module.global) {
        text += global(v);
        globals += "{(const char *)" + local_name(v.name) + ", " + std::to_string(v.bytes) + "}, ";
    }
    text += "const struct ptx_range ptx_globals[] = {" + globals + "{NULL, 0}};\n\n";
    for (const struct ptx_function &f : module.functions) {
        if (!wanted(f, only))
            continue;
        const struct ptx_scope scope = scope_of(module, f);
        number++;
        if (f.entry)
            kernels += "    {\"" + f.name + "\", kernel_" + std::to_string(number) + ", " +
                       std::to_string(scope.parameter_bytes) + ", " +
                       std::to_string(scope.shared_bytes) + "},\n";
        else
            text += head(scope, number) + ";\n";
        functions += function(scope, number);
    }
    if (kernels.empty() && !only.empty())
        ptx_refuse(0, "no kernel has this name");
    return text + functions +
           "extern \"C\" const struct cuda_host_ptx_kernel cuda_host_ptx_kernels[] = {\n" +
           kernels + "    {NULL, NULL, 0, 0},\n};\n";
}
