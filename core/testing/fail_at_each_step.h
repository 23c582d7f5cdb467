// Lets a scenario fail at its first system call, then at its second, and so on until it gets
// through without a failure. Nothing may crash, leak or hang on the way; what the scenario must
// deliver in the end it asserts itself, when faults.triggered() is 0.
//
//     fail_at_each_step([](Faults& faults) {
//         TestNetwork network{Transport::memory, faults};
//         ...
//     });
#pragma once

#include "core/testing/faults.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>

namespace millrace::testing {

template <typename Scenario>
void fail_at_each_step(Scenario scenario,
                       std::initializer_list<int> errors = {ENOMEM, EMFILE, ECONNRESET, EAGAIN}) {
    constexpr uint64_t steps_max = 100'000;
    for (const int error : errors) {
        for (uint64_t step = 1;; ++step) {
            SCOPED_TRACE("fault at step " + std::to_string(step) + ": " + std::strerror(error));
            ASSERT_LE(step, steps_max) << "the scenario never gets through";
            Faults faults;
            faults.fail_at(step, error);
            scenario(faults);
            if (::testing::Test::HasFatalFailure()) return;
            if (faults.triggered() == 0) break;
        }
    }
}

}  // namespace millrace::testing
