// Reads what a server sent as an HTTP/1.1 client must (RFC 9112), and says what is wrong with it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::testing {

struct Answer {
    int status = 0;
    std::string reason;
    std::vector<std::pair<std::string, std::string>> fields;  // in order, names as sent
    std::string body;
    bool is_whole = false;  // else the bytes end inside it

    // The first value of a field (name in lower case), or "".
    std::string field(std::string_view lower_name) const;
    size_t count(std::string_view lower_name) const;
};

struct AnswerStream {
    std::vector<Answer> answers;  // interim ones (1xx) too; the last may not be whole
    std::string error;            // what breaks the protocol; empty: nothing
    size_t final_count() const;   // whole answers that are not interim
};

// `methods` are those of the requests, in order (GET for those that are missing): they decide
// whether an answer has a body. `has_ended`: nothing more will come.
AnswerStream read_answers(std::string_view bytes, std::span<const std::string> methods,
                          bool has_ended);

// The same in one line: "100; 200 body; 404 Not Found". A partial answer ends in "...", an error in
// "!" and what it is.
std::string summary(const AnswerStream& stream);

}  // namespace millrace::testing
