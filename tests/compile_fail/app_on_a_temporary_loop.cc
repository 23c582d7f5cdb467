// An app lives on a loop that somebody else keeps.
#include "millrace/millrace.h"

void run() {
    millrace::Loop loop;
    millrace::App app{loop};
#ifdef MILLRACE_WRONG
    millrace::App dangling{millrace::Loop{}};
#endif
}
