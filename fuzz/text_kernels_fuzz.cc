// Kernels: each vectorised one against its plain twin. The first byte chooses where in memory the
// text ends; what follows it there is hostile.
#include "core/http/response_encoder.h"
#include "core/http/text_kernels.h"
#include "core/testing/guard_page.h"
#include "fuzz/require.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using millrace::PaddedBytes;
using millrace::fuzz::require;
using namespace millrace::http;

constexpr size_t input_bytes_max = 4096;

// Results from the size on all mean the same.
bool is_same(size_t left, size_t right, size_t size) {
    return std::min(left, size) == std::min(right, size);
}

void compare(PaddedBytes bytes) {
    const size_t size = bytes.size();
    require(is_same(find_token_end(bytes), find_token_end_plain(bytes), size), "find_token_end");
    require(is_same(find_value_end(bytes), find_value_end_plain(bytes), size), "find_value_end");
    const TargetScan scan = scan_target(bytes);
    const TargetScan expected = scan_target_plain(bytes);
    require(is_same(scan.end, expected.end, size), "scan_target end");
    require(is_same(scan.query_mark, expected.query_mark, size), "scan_target query_mark");
    require(common_name_bytes(bytes.data()) == common_name_bytes_plain(bytes.data()),
            "common_name_bytes");
    require(kind_of_host(bytes) == kind_of_host_plain(bytes), "kind_of_host");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static millrace::testing::GuardedBuffer memory{input_bytes_max + 64};
    if (size == 0 || size > input_bytes_max) return 0;
    const std::string_view input{reinterpret_cast<const char*>(data) + 1, size - 1};
    const size_t cut = input.size() - std::min<size_t>(data[0] % 40, input.size());
    compare(memory.put_padded(input.substr(0, cut), input.substr(cut)));
    const std::string_view exact = memory.put_at_end(input);
    require(is_field_value(exact) == is_field_value_plain(exact), "is_field_value");
    return 0;
}
