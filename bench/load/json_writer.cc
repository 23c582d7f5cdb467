#include "bench/load/json_writer.h"

#include <cmath>
#include <cstdio>

namespace millrace::load {

JsonWriter& JsonWriter::begin(std::string_view key) {
    open_value(key);
    text_ += '{';
    return *this;
}

JsonWriter& JsonWriter::end() {
    text_ += '}';
    return *this;
}

JsonWriter& JsonWriter::begin_array(std::string_view key) {
    open_value(key);
    text_ += '[';
    return *this;
}

JsonWriter& JsonWriter::end_array() {
    text_ += ']';
    return *this;
}

JsonWriter& JsonWriter::add(std::string_view key, std::string_view text) {
    open_value(key);
    append_quoted(text);
    return *this;
}

JsonWriter& JsonWriter::add(std::string_view key, double number) {
    open_value(key);
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", number);
    text_ += std::isfinite(number) ? digits : "null";
    return *this;
}

void JsonWriter::open_value(std::string_view key) {
    if (!text_.empty() && text_.back() != '{' && text_.back() != '[') text_ += ',';
    if (key.empty()) return;
    append_quoted(key);
    text_ += ':';
}

void JsonWriter::append_quoted(std::string_view text) {
    text_ += '"';
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", c);
            text_ += escape;
            continue;
        }
        if (c == '"' || c == '\\') text_ += '\\';
        text_ += c;
    }
    text_ += '"';
}

}  // namespace millrace::load
