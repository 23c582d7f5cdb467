// Reads what JavaScript has written into the command memory.
#include "millrace/error.h"
#include "node/environment.h"
#include "node/protocol.h"

#include <cstring>

namespace millrace::node {
namespace {

constexpr size_t padded(size_t bytes) { return (bytes + 3) & ~size_t{3}; }

}  // namespace

void Environment::run_commands() {
    uint32_t used = 0;
    if (!command_memory_.bytes.data()) return;
    std::memcpy(&used, command_memory_.bytes.data(), sizeof used);
    if (used == 0) return;
    constexpr uint32_t nothing = 0;
    std::memcpy(command_memory_.bytes.data(), &nothing, sizeof nothing);
    if (used > command_memory_.bytes.size() - commands_begin) return;
    std::span<const char> commands = command_memory_.bytes.subspan(commands_begin, used);
    while (!commands.empty())
        run_command(commands);
}

void Environment::run_command(std::span<const char>& commands) {
    uint32_t words[command_head_words];
    if (commands.size() < sizeof words) {
        commands = {};
        return;
    }
    std::memcpy(words, commands.data(), sizeof words);
    const size_t body_bytes = words[3];
    const size_t whole = sizeof words + padded(body_bytes);
    if (static_cast<CommandKind>(words[0]) != CommandKind::end || whole > commands.size()) {
        commands = {};
        return;
    }
    const std::string_view body{commands.data() + sizeof words, body_bytes};
    commands = commands.subspan(whole);

    const uint32_t slot = words[1];
    ResponseTable::Entry* entry = responses_.find(slot);
    // The connection may have gone since JavaScript wrote this; then the abort is under way.
    if (!entry || !entry->response.is_open()) return;
    const Response response = entry->response;
    responses_.free(slot);
    Response answer = response;
    if (words[2] == 0)
        answer.end(body);
    else
        answer.end(heads_[words[2] < heads_.size() ? words[2] : 0], body);
}

}  // namespace millrace::node
