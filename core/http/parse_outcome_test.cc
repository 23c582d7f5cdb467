#include "core/http/parse_outcome.h"

#include "core/testing/feed.h"

#include <gtest/gtest.h>

#include <optional>
#include <ostream>

namespace millrace::http {
namespace {

constexpr std::string_view verdict_names[] = {"need_more", "complete", "rejected"};

HeadOutcome parse_once(PaddedBytes received, const HttpLimits& limits) {
    std::vector<Field> storage(limits.fields_max);
    RequestHead head;
    // What an earlier request has left behind must not shine through.
    head.keep_alive = false;
    head.expects_continue = head.upgrade = head.has_query = true;
    head.query = head.authority = "stale";
    head.content_length = 99;
    head.body = BodyKind::chunked;
    head.form = TargetForm::asterisk;
    const HeadStep step = parse_head(received, limits, storage, head);
    HeadOutcome outcome;
    outcome.verdict = step.verdict;
    outcome.error = step.error;
    outcome.consumed_bytes = step.consumed_bytes;
    if (step.verdict != Verdict::complete) return outcome;
    for (const Field& field : head.fields) {
        outcome.fields.emplace_back(field.name, field.value);
    }
    outcome.method = head.method;
    outcome.target = head.target;
    outcome.path = head.path;
    outcome.query = head.query;
    outcome.authority = head.authority;
    outcome.content_length = head.content_length;
    outcome.method_id = head.method_id;
    outcome.form = head.form;
    outcome.body = head.body;
    outcome.minor_version = head.minor_version;
    outcome.has_query = head.has_query;
    outcome.keep_alive = head.keep_alive;
    outcome.expects_continue = head.expects_continue;
    outcome.upgrade = head.upgrade;
    return outcome;
}

void take_piece(BodyDecoder& decoder, std::string_view piece, const HttpLimits& limits,
                BodyOutcome& outcome) {
    while (outcome.verdict == Verdict::need_more && !piece.empty()) {
        const BodyDecoder::Step step = decoder.next(piece, limits);
        EXPECT_LE(step.consumed_bytes, piece.size());
        const bool moves = step.consumed_bytes != 0 || step.verdict != Verdict::need_more;
        ASSERT_TRUE(moves) << "no progress";
        if (!step.data.empty()) {
            EXPECT_GE(step.data.data(), piece.data());
            EXPECT_LE(step.data.data() + step.data.size(), piece.data() + step.consumed_bytes);
        }
        outcome.data += step.data;
        outcome.consumed_bytes += step.consumed_bytes;
        outcome.verdict = step.verdict;
        outcome.error = step.error;
        piece.remove_prefix(step.consumed_bytes);
    }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const HeadOutcome& outcome) {
    return out << verdict_names[static_cast<size_t>(outcome.verdict)] << " "
               << info(outcome.error).name << " " << outcome.consumed_bytes << " bytes, "
               << outcome.method << " " << outcome.target << ", " << outcome.fields.size()
               << " fields";
}

HeadOutcome head_of(std::string_view wire, const HttpLimits& limits) {
    std::optional<HeadOutcome> first;
    testing::feed_every_way(wire, [&](testing::Feeder& feed) {
        HeadOutcome seen;
        feed.feed_prefixes([&](PaddedBytes received) {
            const HeadOutcome now = parse_once(received, limits);
            if (seen.verdict != Verdict::need_more) {
                EXPECT_EQ(now, seen) << feed.name();
            }
            seen = now;
            return testing::Feeding::go_on;
        });
        if (!first) first = seen;
        EXPECT_EQ(seen, *first) << feed.name() << " of " << wire.substr(0, 200);
    });
    return *first;
}

std::ostream& operator<<(std::ostream& out, const BodyOutcome& outcome) {
    return out << verdict_names[static_cast<size_t>(outcome.verdict)] << " "
               << info(outcome.error).name << " " << outcome.consumed_bytes << " bytes, data \""
               << outcome.data.substr(0, 200) << "\"";
}

BodyOutcome body_of(const RequestHead& head, std::string_view wire, const HttpLimits& limits) {
    std::optional<BodyOutcome> first;
    testing::feed_every_way(wire, [&](testing::Feeder& feed) {
        BodyDecoder decoder;
        decoder.start(head);
        BodyOutcome seen;
        feed.feed_pieces([&](std::string_view piece) {
            take_piece(decoder, piece, limits, seen);
            return testing::Feeding::go_on;
        });
        EXPECT_EQ(decoder.is_complete(), seen.verdict == Verdict::complete) << feed.name();
        if (!first) first = seen;
        EXPECT_EQ(seen, *first) << feed.name() << " of " << wire.substr(0, 200);
    });
    return *first;
}

BodyOutcome chunked_body_of(std::string_view wire, const HttpLimits& limits) {
    RequestHead head;
    head.body = BodyKind::chunked;
    return body_of(head, wire, limits);
}

BodyOutcome sized_body_of(uint64_t length, std::string_view wire) {
    RequestHead head;
    head.body = BodyKind::length;
    head.content_length = length;
    return body_of(head, wire);
}

}  // namespace millrace::http
