#!/usr/bin/env bash
# valgrind.sh PROGRAM [ARGUMENT...] - runs a program under memcheck: status 99 where it found
# something, which is in $WATCH_LOGS/valgrind.PID. Leaks are memory that nothing leads to any more.
exec valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite \
    --errors-for-leak-kinds=definite --log-file="${WATCH_LOGS:?}/valgrind.%p" "$@"
