#include "bench/load/response_stream.h"

namespace millrace::load {

ResponseStream::Progress ResponseStream::feed(std::string_view bytes, uint32_t outstanding) {
    Progress progress;
    const size_t size = learned_->size();
    while (!bytes.empty()) {
        if (progress.completed == outstanding) {
            progress.error = ErrorKind::protocol;
            break;
        }
        const bool comparable = parser_.untouched() && size != 0 && bytes.size() >= size;
        if (comparable && learned_->matches(bytes.data())) {
            bytes.remove_prefix(size);
            ++progress.completed;
            continue;
        }
        const ParseStep step = parser_.feed(bytes);
        bytes.remove_prefix(step.consumed_bytes);
        if (step.verdict == ParseVerdict::rejected) {
            progress.error = step.error;
            break;
        }
        if (step.verdict == ParseVerdict::need_more) break;
        parser_.begin();
        ++progress.completed;
        ++progress.parsed;
    }
    return progress;
}

}  // namespace millrace::load
