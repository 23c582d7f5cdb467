// Writes one JSON value piece by piece. The caller keeps begin and end balanced.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace millrace::load {

class JsonWriter {
  public:
    JsonWriter& begin(std::string_view key = {});  // an object
    JsonWriter& end();
    JsonWriter& begin_array(std::string_view key = {});
    JsonWriter& end_array();

    JsonWriter& add(std::string_view key, std::string_view text);
    JsonWriter& add(std::string_view key, double number);
    template <std::integral Number>
    JsonWriter& add(std::string_view key, Number number) {
        open_value(key);
        text_ += std::to_string(number);
        return *this;
    }

    const std::string& text() const { return text_; }

  private:
    void open_value(std::string_view key);
    void append_quoted(std::string_view text);

    std::string text_;
};

}  // namespace millrace::load
