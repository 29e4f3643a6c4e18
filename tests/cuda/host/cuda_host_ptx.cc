/* cuda_host_ptx.cc - finds the translated kernel for one that is launched. */
#include "cuda_host_internal.h"

#include <dlfcn.h>
#include <elf.h>
#include <glob.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include <map>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "base/base.h"
}

unsigned cuda_host_ptx_launches;

static struct {
    bool tried, failed, only;
    std::map<std::string, const struct cuda_host_ptx_kernel *> kernels;
    std::map<uintptr_t, std::vector<std::string>> names; /* of the program's functions */
    std::set<std::string> ran, others;
    size_t times;
} ptx;

/* ---- names of the program's functions, those of one file as well: its symbol table */

static int first_object(struct dl_phdr_info *info, size_t, void *base)
{
    *(uintptr_t *)base = (uintptr_t)info->dlpi_addr;
    return 1;
}

static bool read_names(void)
{
    std::string bytes;
    char piece[65536];
    FILE *file = fopen("/proc/self/exe", "rb");
    if (!file)
        return false;
    for (size_t n; (n = fread(piece, 1, sizeof(piece), file)) > 0;)
        bytes.append(piece, n);
    fclose(file);
    const char *at = bytes.data();
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)at;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(at + head->e_shoff);
    uintptr_t base = 0;
    dl_iterate_phdr(first_object, &base);
    for (int i = 0; i < head->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB)
            continue;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(at + sections[i].sh_offset);
        const char *text = at + sections[sections[i].sh_link].sh_offset;
        for (size_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); k++) {
            std::string name = text + symbols[k].st_name;
            if (ELF64_ST_TYPE(symbols[k].st_info) != STT_FUNC || name.compare(0, 2, "_Z") != 0)
                continue;
            if (name.compare(2, 1, "L") == 0) /* of one file alone; nvcc's names do not say so */
                name.erase(2, 1);
            ptx.names[base + (uintptr_t)symbols[k].st_value].push_back(name);
        }
    }
    return !ptx.names.empty();
}

/* ---- the libraries */

/* A kernel that was asked for and did not run is a test of nothing. */
static void at_the_end(void)
{
    if (getenv("ORR_CUDA_HOST_PTX_SAY"))
        fprintf(stderr,
                "ptx: %zu kernels ran in %zu launches; %zu others are the host compiler's\n",
                ptx.ran.size(), ptx.times, ptx.others.size());
    if (!ptx.times) {
        fprintf(stderr, "ptx: error: no kernel of ORR_CUDA_HOST_PTX ran\n");
        fflush(NULL);
        _exit(97);
    }
}

static int open_library(const std::string &path)
{
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return ORR_FAIL(ORR_EIO, "ORR_CUDA_HOST_PTX: %s", dlerror());
    const struct cuda_host_ptx_kernel *k =
        (const struct cuda_host_ptx_kernel *)dlsym(library, "cuda_host_ptx_kernels");
    if (!k)
        return ORR_FAIL(ORR_EINVAL, "ORR_CUDA_HOST_PTX: %s holds no kernels", path.c_str());
    for (; k->name; k++)
        if (!ptx.kernels.emplace(k->name, k).second)
            return ORR_FAIL(ORR_EINVAL, "ORR_CUDA_HOST_PTX: two kernels are called %s", k->name);
    return 0;
}

static int open_libraries(void)
{
    const char *folder = getenv("ORR_CUDA_HOST_PTX"), *only = getenv("ORR_CUDA_HOST_PTX_ONLY");
    if (ptx.tried)
        return ptx.failed ? ORR_FAIL(ORR_EINVAL, "ORR_CUDA_HOST_PTX could not be opened") : 0;
    ptx.tried = true;
    if (!folder || !*folder)
        return 0;
    ptx.failed = true;
    ptx.only = only && *only == '1';
    atexit(at_the_end);
    if (!read_names())
        return ORR_FAIL(ORR_EIO, "ORR_CUDA_HOST_PTX: the program has no symbol table");
    glob_t files;
    int rc = 0;
    if (glob((std::string(folder) + "/*.so").c_str(), 0, NULL, &files))
        return ORR_FAIL(ORR_EMISSING, "ORR_CUDA_HOST_PTX: %s has no libraries", folder);
    for (size_t i = 0; !rc && i < files.gl_pathc; i++)
        rc = open_library(files.gl_pathv[i]);
    globfree(&files);
    if (rc)
        return rc;
    ptx.failed = false;
    return 0;
}

/* ---- launches */

struct call {
    void (*run)(const char *parameters);
    alignas(128) char parameters[128]; /* as far as maps of tensors are aligned */
};

static const struct cuda_host_ptx_kernel *find(const void *kernel)
{
    const auto names = ptx.names.find((uintptr_t)kernel);
    if (names == ptx.names.end())
        return NULL;
    for (const std::string &name : names->second) {
        const auto found = ptx.kernels.find(name);
        if (found != ptx.kernels.end())
            return found->second;
    }
    return NULL;
}

int cuda_host_ptx_take(struct cuda_host_launch *l)
{
    const int rc = open_libraries();
    if (rc || ptx.kernels.empty())
        return rc;
    const struct cuda_host_ptx_kernel *k = find(l->kernel);
    if (!k) {
        ptx.others.insert(l->name);
        return ptx.only ? ORR_FAIL(ORR_EDEVICE, "kernel %s: no PTX of it was given", l->name) : 0;
    }
    const size_t bytes = l->pack(l->arguments, NULL);
    if (bytes != k->parameter_bytes)
        return ORR_FAIL(ORR_EDEVICE, "kernel %s: %zu bytes of parameters, its PTX has %zu", l->name,
                        bytes, k->parameter_bytes);
    void *memory;
    if (posix_memalign(&memory, alignof(struct call), sizeof(struct call) + bytes))
        return ORR_FAIL(ORR_ENOMEM, "kernel %s: no memory for its parameters", l->name);
    struct call *c = (struct call *)memory;
    memset(c, 0, sizeof(*c) + bytes);
    c->run = k->run;
    l->pack(l->arguments, c->parameters);
    l->drop(l->arguments);
    l->arguments = c;
    l->drop = free;
    l->call = [](const void *a) {
        ((const struct call *)a)->run(((const struct call *)a)->parameters);
    };
    l->shared += k->shared_bytes;
    ptx.ran.insert(k->name);
    ptx.times++;
    return 0;
}
