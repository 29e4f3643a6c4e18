/* program.c - what every program does around its work: arguments, signals, the exit status. */
#include "base.h"

#include <gsl/gsl_errno.h>

/* The command that goes on where this one was stopped. */
static void print_resume(int argc, char **argv, bool given)
{
    fputs("resume with:", stderr);
    for (int i = 0; i < argc; i++)
        fprintf(stderr, " %s", argv[i]);
    fputs(given ? "\n" : " --resume\n", stderr);
}

int orr_main(const struct orr_program *program, int argc, char **argv,
             int (*run)(const struct orr_cli *cli))
{
    struct orr_cli cli;
    bool done = false;
    int rc = orr_cli_parse(program, argc, argv, &cli, &done);
    if (rc || done)
        return orr_error_exit(program->name, rc);
    gsl_set_error_handler_off();
    orr_signals_catch();
    rc = run(&cli);
    if (rc == ORR_EINTR) {
        fprintf(stderr, "%s: %s\n", program->name, orr_error());
        if (program->resumes)
            print_resume(argc, argv, cli.resume);
    }
    return orr_error_exit(program->name, rc);
}
