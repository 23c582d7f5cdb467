#include "tests/wire/wire_case.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

namespace millrace::wire {

namespace {

using LimitOf = uint32_t HttpLimits::*;

const std::map<std::string_view, LimitOf>& limit_names() {
    static const std::map<std::string_view, LimitOf> names{
        {"head_bytes_max", &HttpLimits::head_bytes_max},
        {"fields_max", &HttpLimits::fields_max},
        {"chunk_extension_bytes_max", &HttpLimits::chunk_extension_bytes_max},
        {"trailer_bytes_max", &HttpLimits::trailer_bytes_max},
        {"chunk_overhead_percent_max", &HttpLimits::chunk_overhead_percent_max},
    };
    return names;
}

constexpr std::string_view line_end = "\r\n";

class Reader {
  public:
    Reader(std::string file, std::string_view markdown) : file_(std::move(file)), rest_(markdown) {}

    std::vector<WireCase> read() {
        while (next_line()) {
            if (line_.starts_with("## "))
                begin_case();
            else if (line_.starts_with("limits: "))
                read_limits(line_.substr(8));
            else if (line_ == "```http")
                read_wire();
            else if (line_ == "```events")
                read_events();
            else if (line_.starts_with("```"))
                fail("a block is either http or events");
        }
        finish_case();
        return std::move(cases_);
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw WireCaseError(file_ + ":" + std::to_string(number_) + ": " + what);
    }

    bool next_line() {
        if (rest_.empty()) return false;
        const size_t end = std::min(rest_.find('\n'), rest_.size());
        line_ = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        ++number_;
        return true;
    }

    // False at the end of the block.
    bool next_block_line() {
        if (!next_line()) fail("the block has no end");
        return line_ != "```";
    }

    void begin_case() {
        finish_case();
        current_.emplace();
        current_->file = file_;
        current_->line = number_;
        current_->title = line_.substr(3);
    }

    void finish_case() {
        if (!current_) return;
        if (current_->wire.empty()) fail("'" + current_->title + "' has no http block");
        if (current_->events.empty()) fail("'" + current_->title + "' has no events block");
        cases_.push_back(std::move(*current_));
        current_.reset();
    }

    WireCase& current() {
        if (!current_) fail("this belongs below a title");
        return *current_;
    }

    // "name=value, name=value"
    void read_limits(std::string_view list) {
        while (!list.empty()) {
            const size_t end = std::min(list.find(", "), list.size());
            const std::string_view one = list.substr(0, end);
            const size_t equals = std::min(one.find('='), one.size());
            const auto limit = limit_names().find(one.substr(0, equals));
            if (limit == limit_names().end()) fail("no such limit: " + std::string{one});
            uint32_t& value = current().limits.*limit->second;
            const char* const digits_end = one.data() + one.size();
            const auto parsed = std::from_chars(one.data() + equals + 1, digits_end, value);
            if (parsed.ec != std::errc{} || parsed.ptr != digits_end) fail("not a number");
            list.remove_prefix(std::min(end + 2, list.size()));
        }
    }

    void read_wire() {
        if (!current().wire.empty()) fail("a second http block");
        while (next_block_line())
            current().wire += unescaped_line();
    }

    std::string unescaped_line() const {
        std::string bytes;
        std::string_view text = line_;
        while (!text.empty()) {
            if (text.front() != '\\') {
                bytes += text.front();
                text.remove_prefix(1);
                continue;
            }
            if (text.size() == 1) return bytes;  // no line end
            append_escape(text, bytes);
        }
        return bytes.append(line_end);
    }

    // Takes an escape from the front of `text`.
    void append_escape(std::string_view& text, std::string& bytes) const {
        constexpr std::string_view letters = "0nrt\\";
        constexpr std::string_view meanings{"\0\n\r\t\\", 5};
        const char letter = text[1];
        if (const size_t index = letters.find(letter); index != std::string_view::npos) {
            bytes += meanings[index];
            text.remove_prefix(2);
            return;
        }
        unsigned value = 0;
        const char* const digits = text.data() + 2;
        if (letter != 'x' || text.size() < 4 ||
            std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2)
            fail("unknown escape");
        bytes += static_cast<char>(value);
        text.remove_prefix(4);
    }

    void read_events() {
        if (!current().events.empty()) fail("a second events block");
        current().events_line = number_ + 1;
        while (next_block_line())
            current().events.emplace_back(line_);
    }

    const std::string file_;
    std::string_view rest_;
    std::string_view line_;
    int number_ = 0;
    std::optional<WireCase> current_;
    std::vector<WireCase> cases_;
};

}  // namespace

std::vector<WireCase> cases_of(const std::string& file, std::string_view markdown) {
    return Reader{file, markdown}.read();
}

std::vector<WireCase> cases_below(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder})
        if (entry.path().extension() == ".md" && entry.path().filename() != "README.md")
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<WireCase> all;
    for (const auto& file : files) {
        std::ifstream stream{file, std::ios::binary};
        const std::string markdown{std::istreambuf_iterator<char>{stream}, {}};
        for (WireCase& one : cases_of(file.string(), markdown))
            all.push_back(std::move(one));
    }
    return all;
}

std::string escaped(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        if (byte == '\r')
            text += "\\r";
        else if (byte == '\n')
            text += "\\n";
        else if (byte == '\\')
            text += "\\\\";
        else if (value >= ' ' && value < 0x7f)
            text += byte;
        else
            text.append("\\x").append(1, digits[value >> 4]).append(1, digits[value & 15]);
    }
    return text;
}

}  // namespace millrace::wire
