// Runs every case of the markdown documents below this folder, fed in every way in which its bytes
// can arrive.
#include "core/testing/feed.h"
#include "tests/wire/event_log.h"
#include "tests/wire/wire_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <memory>

namespace millrace::wire {
namespace {

std::vector<std::string> events_of(testing::Feeder& feed, const WireCase& one) {
    EventLog log{one.limits};
    feed.feed_prefixes([&](PaddedBytes received) {
        return log.on_received(received) ? testing::Feeding::go_on : testing::Feeding::stop;
    });
    return log.finish(one.wire.size());
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines)
        text.append("    ").append(line).append("\n");
    return text;
}

class WireTest : public ::testing::Test {
  public:
    explicit WireTest(const WireCase& one) : case_(one) {}

    void TestBody() override {
        testing::feed_every_way(case_.wire, [&](testing::Feeder& feed) {
            if (HasFailure()) return;  // the other ways would say the same again
            const auto events = events_of(feed, case_);
            if (events == case_.events) return;
            const auto [expected, actual] = std::mismatch(case_.events.begin(), case_.events.end(),
                                                          events.begin(), events.end());
            const auto line = case_.events_line + static_cast<int>(expected - case_.events.begin());
            ADD_FAILURE_AT(case_.file.c_str(), line)
                << case_.title << " (fed " << feed.name() << ")\n  the log is\n"
                << joined(events);
        });
    }

  private:
    const WireCase case_;
};

// "a title, with words" becomes "a_title_with_words".
std::string name_of(std::string_view title) {
    std::string name;
    for (const char letter : title) {
        if (std::isalnum(static_cast<unsigned char>(letter)) != 0)
            name += letter;
        else if (!name.empty() && name.back() != '_')
            name += '_';
    }
    return name;
}

void register_cases(const std::vector<WireCase>& cases) {
    for (const WireCase& one : cases) {
        const std::string suite = name_of(std::filesystem::path{one.file}.stem().string());
        ::testing::RegisterTest(suite.c_str(), name_of(one.title).c_str(), nullptr, nullptr,
                                one.file.c_str(), one.line,
                                [one]() -> ::testing::Test* { return new WireTest(one); });
    }
}

}  // namespace
}  // namespace millrace::wire

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    const std::filesystem::path folder = argc > 1 ? argv[1] : MILLRACE_WIRE_FOLDER;
    try {
        const auto cases = millrace::wire::cases_below(folder);
        if (cases.empty()) throw millrace::wire::WireCaseError("no cases below " + folder.string());
        millrace::wire::register_cases(cases);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return RUN_ALL_TESTS();
}
