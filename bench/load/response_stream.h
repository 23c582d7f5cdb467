// The responses of one connection, as they come. Whole responses that equal the learned template
// are counted by comparing bytes; everything else goes through the parser.
#pragma once

#include "bench/load/response_parser.h"
#include "bench/load/response_template.h"

#include <cstdint>
#include <string_view>

namespace millrace::load {

class ResponseStream {
  public:
    // Both must outlive the stream.
    ResponseStream(const Expectation& expected, ResponseTemplate& learned)
        : parser_(expected), learned_(&learned) {}

    struct Progress {
        uint32_t completed = 0;  // responses whose last byte was in these bytes
        uint32_t parsed = 0;     // those of them that the template did not cover
        ErrorKind error = ErrorKind::none;
    };

    // At most `outstanding` responses may complete; a byte more is a protocol error, because nobody
    // asked for it. After an error the stream is of no further use.
    Progress feed(std::string_view bytes, uint32_t outstanding);

  private:
    ResponseParser parser_;
    ResponseTemplate* learned_;
};

}  // namespace millrace::load
