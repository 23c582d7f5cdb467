#include "core/testing/faults.h"

#include <algorithm>
#include <numeric>

namespace millrace::testing {

void Faults::fail(const Fault& fault) { armed_.push_back({fault, 0}); }

uint64_t Faults::steps() const {
    return std::accumulate(steps_.begin(), steps_.end(), uint64_t{0});
}

int Faults::count(Call call) {
    ++steps_[static_cast<size_t>(call)];
    int error = 0;
    for (Armed& armed : armed_) {
        const Fault& fault = armed.fault;
        if (fault.call && *fault.call != call) continue;
        const uint64_t step = ++armed.seen;
        if (step >= fault.step && step - fault.step < fault.count) error = fault.error;
    }
    if (error != 0) ++triggered_;
    return -error;
}

size_t Faults::io_bytes(size_t wanted) const {
    return short_io_bytes_ == 0 ? wanted : std::min(wanted, short_io_bytes_);
}

}  // namespace millrace::testing
