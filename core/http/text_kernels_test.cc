#include "core/http/text_kernels.h"

#include "core/testing/guard_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace millrace::http {
namespace {

using Finder = size_t (*)(PaddedBytes);

struct NamedFinder {
    const char* name;
    Finder plain;
    std::vector<Finder> twins;
};

// Results from the size on all mean the same.
size_t clipped(size_t index, size_t size) { return std::min(index, size); }

std::vector<NamedFinder> finders() {
    std::vector<NamedFinder> all{
        {"find_token_end", find_token_end_plain, {find_token_end}},
        {"find_value_end", find_value_end_plain, {find_value_end}},
        {"scan_target",
         [](PaddedBytes bytes) { return scan_target_plain(bytes).end; },
         {[](PaddedBytes bytes) { return scan_target(bytes).end; }}},
        {"common_name_bytes",
         [](PaddedBytes bytes) { return common_name_bytes_plain(bytes.data()); },
         {[](PaddedBytes bytes) { return common_name_bytes(bytes.data()); }}},
    };
#if MILLRACE_SSE2_KERNELS
    all[0].twins.push_back(find_token_end_sse2);
    all[1].twins.push_back(find_value_end_sse2);
#endif
    return all;
}

TEST(TextKernels, TwinsAgreeOnEveryByteAtEveryPlace) {
    testing::GuardedBuffer memory{128};
    for (const NamedFinder& finder : finders()) {
        for (size_t size = 0; size <= 50; ++size) {
            for (size_t at = 0; at < std::max<size_t>(size, 1); ++at) {
                for (unsigned byte = 0; byte < 256; ++byte) {
                    std::string text(size, 'a');
                    if (size != 0) text[at] = static_cast<char>(byte);
                    const PaddedBytes bytes = memory.put_padded(text, "b\r\n");
                    const size_t expected = clipped(finder.plain(bytes), size);
                    for (const Finder twin : finder.twins) {
                        ASSERT_EQ(clipped(twin(bytes), size), expected)
                            << finder.name << " " << byte;
                    }
                }
            }
        }
    }
}

TEST(TextKernels, PlainTwinsAreTheDefinition) {
    const auto of = [](std::string_view text) {
        return PaddedBytes::promise(text.data(), text.size());
    };
    EXPECT_EQ(find_token_end_plain(of("a-Z9_~:b")), 6U);
    EXPECT_EQ(find_token_end_plain(of("")), 0U);
    EXPECT_EQ(find_value_end_plain(of("a\t\xff \rb")), 4U);
    EXPECT_EQ(find_value_end_plain(of("abc")), 3U);
    EXPECT_EQ(scan_target_plain(of("/a?b?c d?")).end, 6U);
    EXPECT_EQ(scan_target_plain(of("/a?b?c d?")).query_mark, 2U);
    EXPECT_EQ(scan_target_plain(of("/ab d?")).query_mark, 3U);
    EXPECT_EQ(kind_of_host_plain(of("a.b-c9:8080")), HostKind::common);
    EXPECT_EQ(kind_of_host_plain(of("a.b-c9:18080")), HostKind::other);
    EXPECT_EQ(kind_of_host_plain(of("a:")), HostKind::other);
    EXPECT_EQ(kind_of_host_plain(of("")), HostKind::other);
    EXPECT_EQ(kind_of_host_plain(of("a_b")), HostKind::other);
}

TEST(TextKernels, TwinsAgreeOnQueryMarks) {
    testing::GuardedBuffer memory{128};
    for (size_t size = 0; size <= 50; ++size) {
        for (size_t mark = 0; mark <= size; ++mark) {
            for (size_t stop = 0; stop <= size; ++stop) {
                std::string text(size, '/');
                if (mark < size) text[mark] = '?';
                if (stop < size) text[stop] = ' ';
                const PaddedBytes bytes = memory.put_padded(text, "?? ");
                const TargetScan expected = scan_target_plain(bytes);
                const TargetScan found = scan_target(bytes);
                ASSERT_EQ(clipped(found.end, size), clipped(expected.end, size));
                ASSERT_EQ(clipped(found.query_mark, size), clipped(expected.query_mark, size));
            }
        }
    }
}

TEST(TextKernels, TwinsAgreeOnHosts) {
    testing::GuardedBuffer memory{128};
    for (size_t size = 0; size <= 24; ++size) {
        for (size_t colon = 0; colon <= size; ++colon) {
            for (size_t odd = 0; odd <= size; ++odd) {
                for (const char byte : {'a', 'Z', '5', '.', '-', '_', ':', '/', '@', '[', '\xe1'}) {
                    std::string text(size, '7');
                    if (odd < size) text[odd] = byte;
                    if (colon < size) text[colon] = ':';
                    const PaddedBytes bytes = memory.put_padded(text, "7:");
                    ASSERT_EQ(kind_of_host(bytes), kind_of_host_plain(bytes)) << text;
                }
            }
        }
    }
}

TEST(TextKernels, FoldingComparesLettersInAnyCaseOnly) {
    EXPECT_TRUE(equals_folded(std::string_view{"HoSt"}, "host"));
    EXPECT_TRUE(equals_folded(std::string_view{"Transfer-Encoding"}, "transfer-encoding"));
    EXPECT_FALSE(equals_folded(std::string_view{"hosts"}, "host"));
    // Every byte but a control, in place of each byte of a name.
    const std::string_view name = "content-length";
    for (size_t at = 0; at < name.size(); ++at) {
        for (unsigned byte = 0x20; byte < 256; ++byte) {
            std::string text{name};
            text[at] = static_cast<char>(byte);
            const bool is_same =
                byte == static_cast<unsigned char>(name[at]) ||
                (byte >= 'A' && byte <= 'Z' && byte + 32 == static_cast<unsigned char>(name[at]));
            EXPECT_EQ(equals_folded(std::string_view{text}, "content-length"), is_same) << byte;
        }
    }
}

}  // namespace
}  // namespace millrace::http
