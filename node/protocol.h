// The memory that C++ and JavaScript share, word by word. js/native/memory.js says the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace millrace::node {

// --- Events: C++ writes, JavaScript reads -------------------------------------------------------
// Words 0 and 1 of the memory: how many events there are, and the number of their batch. Behind
// events_begin four words each: kind (low byte; flags above), slot, and two that depend on the
// kind.
enum class EventKind : uint32_t {
    none = 0,      // withdrawn
    request = 1,   // route, index of the request in this batch
    body = 2,      // offset in the receive arena, bytes; flag: last
    aborted = 3,   //
    writable = 4,  //
};
inline constexpr size_t events_begin = 16;
inline constexpr size_t event_words = 4;
using EventWords = std::array<uint32_t, event_words>;
inline constexpr uint32_t event_kind_mask = 0xff;
inline constexpr uint32_t body_is_last = 1u << 8;

// --- Commands: JavaScript writes, C++ reads -----------------------------------------------------
// Word 0 of the memory: bytes in use, counting from commands_begin. Behind commands_begin one
// command after the other, each padded to whole words.
enum class CommandKind : uint32_t {
    // slot, number of a prepared head, bytes of the body; the body
    end = 1,
};
inline constexpr size_t commands_begin = 16;
inline constexpr size_t command_head_words = 4;

}  // namespace millrace::node
