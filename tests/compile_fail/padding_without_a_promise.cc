// A scanner may read past the end only of bytes whose owner has promised that.
#include "core/base/bytes.h"

millrace::PaddedBytes run(const char* data, size_t size) {
#ifdef MILLRACE_WRONG
    return std::string_view{data, size};
#else
    return millrace::PaddedBytes::promise(data, size);
#endif
}
