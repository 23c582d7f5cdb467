// Body framing: the bytes behind a head in, pieces of body data out. RFC 9112 sections 6 and 7.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/verdict.h"
#include "core/http/head_parser.h"

namespace millrace::http {

// Resumable: keeps its place between reads in a few words, and never a byte of data.
class BodyDecoder {
  public:
    struct Step {
        Verdict verdict = Verdict::need_more;
        size_t consumed_bytes = 0;  // of the input, always
        std::string_view data;      // body data inside the input; may be empty
        HttpError error = HttpError::none;
    };

    BodyDecoder() = default;  // no body: complete at once

    // Starts on the body that `head` announces.
    void start(const RequestHead& head);

    // Consumes input up to the end of one piece of data, of the input, or of the body. On need_more
    // with input left (consumed_bytes < input.size()) call again with the rest; with all consumed,
    // with more bytes. Trailer fields are checked and dropped.
    Step next(std::string_view input, const HttpLimits& limits);

    // True once the last piece has been given out, and from the start if there is no body.
    bool is_complete() const;

    // Data bytes still to come, if the message announced its length; 0 when complete, UINT64_MAX for
    // an unfinished chunked body.
    uint64_t remaining_bytes() const;
};

}  // namespace millrace::http
