// Apps, servers and loops have one owner; responses are handles, to be copied freely.
#include "millrace/millrace.h"

millrace::Response copy(const millrace::Response& response) { return response; }

void run() {
    millrace::Loop loop;
    millrace::App app{loop};
#ifdef MILLRACE_WRONG
    millrace::App second{app};
#endif
}
