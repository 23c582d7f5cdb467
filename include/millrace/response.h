// The answer to one request.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace millrace {

namespace server {
class Exchange;
struct ResponseHead;
}  // namespace server

// Status and fields that are checked and encoded once and used for many answers.
class PreparedHead {
  public:
    PreparedHead();
    ~PreparedHead();
    PreparedHead(PreparedHead&&) noexcept;
    PreparedHead& operator=(PreparedHead&&) noexcept;

    // As Response::status() and Response::header().
    PreparedHead& status(std::string_view status);
    PreparedHead& header(std::string_view name, std::string_view value);

    // For the bodies of this API.
    const server::ResponseHead& internals() const { return *head_; }

  private:
    std::unique_ptr<server::ResponseHead> head_;
};

enum class Close : uint8_t { no, yes };

struct TryEnd {
    bool accepted = false;  // the whole chunk was taken
    bool done = false;      // the response is complete
};

// A handle: copy it, keep it as long as you like, but not beyond its Loop. It belongs to one
// request for ever. Once the response is complete or its connection is gone, every call but
// is_open() throws Error{response_gone}; no call ever touches another request.
//
// Answers to pipelined requests may be given in any order; they leave in the order of the requests.
class Response {
  public:
    Response() = default;

    bool is_open() const noexcept;

    // Status line: three digits, alone or followed by a space and a reason ("404 Not Found").
    // 200 OK if never called; the first call wins. Throws Error{bad_status, head_sent}.
    Response& status(std::string_view status);

    // Appends a field line. Content-Length and Transfer-Encoding are the engine's: a Content-Length
    // is kept for end_without_body() and otherwise replaced by the true one; Transfer-Encoding may
    // only say "chunked" and has no effect. Connection: close closes after the answer. Throws
    // Error{bad_field_name, bad_field_value, bad_transfer_encoding, head_sent}.
    Response& header(std::string_view name, std::string_view value);

    // Takes status and fields from `head`, in place of all that was set before. Throws
    // Error{head_sent}.
    Response& use(const PreparedHead& head);

    // Sends a piece of a body of unknown length (chunked; in HTTP/1.0 ended by the close). False if
    // bytes had to be queued because the peer reads too slowly: they are not lost, but wait for
    // on_writable before writing more.
    bool write(std::string_view chunk);

    // Sends the head of a body of unknown length at once.
    void begin_write();

    // Completes the response.
    void end(std::string_view body = {}, Close close = Close::no);
    void end(const PreparedHead& head, std::string_view body, Close close = Close::no);

    // Completes it without a body: with Content-Length: `reported_bytes` if given (for answers to
    // HEAD); without it, with the length that frames an empty body.
    void end_without_body(std::optional<uint64_t> reported_bytes = {}, Close close = Close::no);

    // Sends a piece of a body of `total_bytes` bytes, without ever queueing body bytes: what the
    // peer does not take now is not accepted (see write_offset()). 0: the chunk is the whole body.
    // Throws Error{length_mismatch} if the chunk is more than what is missing.
    TryEnd try_end(std::string_view chunk, uint64_t total_bytes);

    // Body bytes accepted so far.
    uint64_t write_offset() const;

    // Bytes queued on the connection because the peer did not take them yet.
    uint64_t queued_bytes() const;

    // Asks for one on_writable event as soon as nothing is queued any more.
    void notify_writable();

    // Stops and starts reading the request body.
    void pause();
    void resume();

    // Closes the connection at once. All its requests that are not answered are aborted.
    void close();

    // The peer's address in network order: 4 or 16 bytes, or none if it is unknown by now.
    std::string remote_address() const;
    // The peer's port; 0 if unknown.
    uint16_t remote_port() const;

    // --- For embedders -------------------------------------------------------------------------

    // A word of the embedder's own, kept with the request. 0 at first.
    uint64_t tag() const;
    void set_tag(uint64_t tag);

    // Whether the request has a body, and whether the engine holds a part of it that nobody has
    // read.
    bool has_body() const;
    bool holds_body() const;

    // Gives body bytes back to the engine to hold, in batched delivery, because nobody reads yet.
    // `is_last`: the body ends with them. They are delivered again after release_body().
    void hold_body(std::string_view data, bool is_last);

    // Delivers what is held, and what comes, from the next turn on.
    void release_body();

    // For the bodies of this API.
    Response(server::Exchange& exchange, uint32_t generation)
        : exchange_(&exchange), generation_(generation) {}

    // Throws Error{response_gone}.
    server::Exchange& internals() const { return live(); }

  private:
    server::Exchange& live() const;

    server::Exchange* exchange_ = nullptr;
    uint32_t generation_ = 0;
};

// An IP address as text: dotted decimal, or eight groups of four lower-case hexadecimal digits.
std::string to_text(std::string_view address);

}  // namespace millrace
