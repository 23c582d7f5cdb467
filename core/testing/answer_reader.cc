#include "core/testing/answer_reader.h"

#include "core/base/ascii.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace millrace::testing {

namespace {

// Takes a line with its CR LF off the front; nothing if it is not whole.
std::optional<std::string_view> take_line(std::string_view& bytes) {
    const size_t end = bytes.find("\r\n");
    if (end == std::string_view::npos) return {};
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 2);
    return line;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_token_byte(char c) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || marks.find(c) != marks.npos;
}

std::optional<size_t> number_of(std::string_view digits, unsigned base) {
    if (digits.empty() || digits.size() > 15) return {};
    size_t value = 0;
    for (const char c : digits) {
        const bool is_hex = base == 16 && c >= 'a' && c <= 'f';
        if (!is_digit(c) && !is_hex) return {};
        value = value * base + static_cast<size_t>(is_hex ? c - 'a' + 10 : c - '0');
    }
    return value;
}

// What became of one part of a message.
enum class Part { whole, partial, wrong };

class Reader {
  public:
    Reader(std::string_view bytes, std::span<const std::string> methods, bool has_ended)
        : bytes_(bytes), methods_(methods), has_ended_(has_ended) {}

    AnswerStream read() {
        while (!bytes_.empty() && stream_.error.empty()) {
            stream_.answers.emplace_back();
            if (read_one(stream_.answers.back()) != Part::whole) break;
            stream_.answers.back().is_whole = true;
        }
        return std::move(stream_);
    }

  private:
    Part wrong(std::string what) {
        stream_.error = std::move(what);
        return Part::wrong;
    }

    Part read_one(Answer& answer) {
        if (const Part part = read_head(answer); part != Part::whole) return part;
        if (answer.status / 100 == 1) return Part::whole;
        const std::string method = final_ < methods_.size() ? methods_[final_] : "GET";
        ++final_;
        return read_body(answer, method);
    }

    Part read_head(Answer& answer) {
        const auto line = take_line(bytes_);
        if (!line) return Part::partial;
        if (line->size() < 13 || !line->starts_with("HTTP/1.1 ") || !is_digit((*line)[9]) ||
            !is_digit((*line)[10]) || !is_digit((*line)[11]) || (*line)[12] != ' ')
            return wrong("bad status line: " + std::string{*line});
        answer.status = std::stoi(std::string{line->substr(9, 3)});
        answer.reason = line->substr(13);
        while (const auto field = take_line(bytes_)) {
            if (field->empty()) return Part::whole;
            const size_t colon = field->find(':');
            if (colon == 0 || colon == std::string_view::npos ||
                !std::all_of(field->begin(), field->begin() + static_cast<ptrdiff_t>(colon),
                             is_token_byte))
                return wrong("bad field line: " + std::string{*field});
            std::string_view value = field->substr(colon + 1);
            if (value.starts_with(' ')) value.remove_prefix(1);
            answer.fields.emplace_back(field->substr(0, colon), value);
        }
        return Part::partial;
    }

    // RFC 9112 section 6.3.
    Part read_body(Answer& answer, const std::string& method) {
        const bool is_chunked = answer.count("transfer-encoding") > 0;
        const size_t lengths = answer.count("content-length");
        if (lengths > 1 || (is_chunked && lengths > 0)) return wrong("two lengths");
        if ((answer.status == 204 || (method == "CONNECT" && answer.status / 100 == 2)) &&
            (is_chunked || lengths > 0))
            return wrong("a length where there can be no body");
        if (method == "HEAD" || answer.status == 204 || answer.status == 304 ||
            (method == "CONNECT" && answer.status / 100 == 2))
            return Part::whole;
        if (is_chunked) return read_chunks(answer);
        if (lengths > 0) {
            const auto length = number_of(answer.field("content-length"), 10);
            if (!length) return wrong("bad length: " + answer.field("content-length"));
            return take_bytes(answer, *length);
        }
        answer.body = std::exchange(bytes_, {});
        return has_ended_ ? Part::whole : Part::partial;
    }

    Part take_bytes(Answer& answer, size_t count) {
        const size_t here = std::min(count, bytes_.size());
        answer.body.append(bytes_.substr(0, here));
        bytes_.remove_prefix(here);
        return here == count ? Part::whole : Part::partial;
    }

    Part read_chunks(Answer& answer) {
        while (const auto line = take_line(bytes_)) {
            const auto size = number_of(*line, 16);
            if (!size) return wrong("bad chunk size: " + std::string{*line});
            if (take_bytes(answer, *size) == Part::partial) return Part::partial;
            const auto ending = take_line(bytes_);
            if (!ending) return Part::partial;
            if (!ending->empty()) return wrong("bad chunk ending: " + std::string{*ending});
            if (*size == 0) return Part::whole;
        }
        return Part::partial;
    }

    std::string_view bytes_;
    std::span<const std::string> methods_;
    bool has_ended_;
    size_t final_ = 0;
    AnswerStream stream_;
};

}  // namespace

std::string Answer::field(std::string_view lower_name) const {
    for (const auto& [name, value] : fields)
        if (equals_lower(name, lower_name)) return value;
    return {};
}

size_t Answer::count(std::string_view lower_name) const {
    return static_cast<size_t>(std::count_if(fields.begin(), fields.end(), [&](const auto& field) {
        return equals_lower(field.first, lower_name);
    }));
}

size_t AnswerStream::final_count() const {
    return static_cast<size_t>(std::count_if(answers.begin(), answers.end(), [](const Answer& one) {
        return one.is_whole && one.status / 100 != 1;
    }));
}

AnswerStream read_answers(std::string_view bytes, std::span<const std::string> methods,
                          bool has_ended) {
    return Reader{bytes, methods, has_ended}.read();
}

std::string summary(const AnswerStream& stream) {
    std::string line;
    for (const Answer& answer : stream.answers) {
        if (!line.empty()) line += "; ";
        line += std::to_string(answer.status);
        if (!answer.body.empty()) line += " " + answer.body;
        if (!answer.is_whole && stream.error.empty()) line += "...";
    }
    if (!stream.error.empty()) line += "! " + stream.error;
    return line;
}

}  // namespace millrace::testing
