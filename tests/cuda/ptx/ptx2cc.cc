/* ptx2cc.cc - ptx2cc [--kernel PART]... IN.ptx OUT.cc: the C++ of a module of PTX, or of those of
 * its kernels whose name contains a PART. Exits with 1 and one line where it does not know what is
 * there. */
#include "ptx.h"

#include <fstream>
#include <sstream>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    std::vector<std::string> only, files;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--kernel") && i + 1 < argc)
            only.push_back(argv[++i]);
        else
            files.push_back(argv[i]);
    }
    if (files.size() != 2) {
        fprintf(stderr, "usage: ptx2cc [--kernel PART]... IN.ptx OUT.cc\n");
        return 2;
    }
    std::ifstream in(files[0]);
    std::stringstream text;
    text << in.rdbuf();
    if (!in) {
        fprintf(stderr, "ptx2cc: error: cannot read %s\n", files[0].c_str());
        return 1;
    }
    std::ofstream out(files[1]);
    out << ptx_emit(ptx_parse(text.str()), only);
    out.close();
    if (!out) {
        fprintf(stderr, "ptx2cc: error: cannot write %s\n", files[1].c_str());
        return 1;
    }
    return 0;
}
