// Body framing: the bytes behind a head in, pieces of body data out. RFC 9112 sections 6 and 7.
#pragma once

#include "core/base/verdict.h"
#include "core/http/head_parser.h"

#include <cstdint>
#include <string_view>

namespace millrace::http {

// Resumable: keeps its place between reads in a few words, and never a byte of data.
//
// A body that breaks a rule is rejected at the byte that breaks it, however the bytes are split;
// every later step is rejected again.
class BodyDecoder {
  public:
    struct Step {
        Verdict verdict = Verdict::need_more;
        size_t consumed_bytes = 0;  // of the input, always; on rejected: up to the bad byte
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

    // Data bytes still to come, if the message announced its length; 0 when complete, UINT64_MAX
    // for an unfinished chunked body.
    uint64_t remaining_bytes() const;

  private:
    // RFC 9112 section 7.1, in the order of the grammar.
    enum class Place : uint8_t {
        complete,
        rejected,
        sized_data,       // a body with Content-Length
        chunk_size,       // 1*HEXDIG
        extension_gap,    // BWS, then ';'
        extension_start,  // BWS, then the name
        extension_name,
        extension_name_gap,     // BWS, then '=' or ';'
        extension_value_start,  // BWS, then a token or a quoted string
        extension_value,
        extension_quoted,
        extension_escaped,
        extension_value_end,
        chunk_line_lf,
        chunk_data,
        chunk_data_cr,
        chunk_data_lf,
        trailer_start,  // a field line, or the CR of the empty line
        trailer_name,
        trailer_value,
        trailer_lf,
        last_lf,
    };

    Step take_data(std::string_view input);
    HttpError take_framing(char byte, const HttpLimits& limits);
    HttpError take_chunk_framing(char byte, const HttpLimits& limits);
    HttpError take_size(char byte);
    HttpError take_extension(char byte);
    HttpError take_quoted(char byte);
    HttpError end_extension_part(char byte);
    HttpError end_chunk_line(char byte);
    HttpError take_trailer(char byte, const HttpLimits& limits);
    HttpError take_trailer_name(char byte);
    HttpError move_on(char byte, char expected, Place next, HttpError otherwise);
    HttpError move_to(Place next);
    void start_chunk_size();
    void check() const;

    uint64_t remaining_bytes_ = 0;  // of the sized body or of this chunk; the size being read
    uint64_t data_bytes_ = 0;       // of all chunks so far
    uint64_t overhead_bytes_ = 0;   // chunk framing so far, without extensions and trailers
    uint32_t extension_bytes_ = 0;
    uint32_t trailer_bytes_ = 0;
    Place place_ = Place::complete;
    HttpError error_ = HttpError::none;
    uint8_t size_digits_ = 0;
    uint8_t name_bytes_ = 0;  // of this trailer name, no more than the longest forbidden one + 1
    uint8_t forbidden_left_ = 0;  // forbidden names that begin like this one, as bits
};

static_assert(sizeof(BodyDecoder) <= 40);

}  // namespace millrace::http
