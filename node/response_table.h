// Which response a JavaScript object stands for. JavaScript knows a response by the number of a
// slot.
//
// A slot is used anew only after JavaScript has been told that its old owner is gone: it completed
// the response itself, or the abort has been delivered.
#pragma once

#include "millrace/response.h"

#include <cstdint>
#include <vector>

namespace millrace::node {

class ResponseTable {
  public:
    struct Entry {
        Response response;
        uint32_t event_index = 0;  // where the request's event stands, in batch number `batch`
        uint32_t batch = 0;
    };

    uint32_t add(const Response& response, uint32_t event_index, uint32_t batch) {
        uint32_t slot = 0;
        if (free_.empty()) {
            slot = static_cast<uint32_t>(entries_.size());
            entries_.emplace_back();
        } else {
            slot = free_.back();
            free_.pop_back();
        }
        entries_[slot] = {response, event_index, batch};
        return slot;
    }

    // nullptr if there is no such slot.
    Entry* find(uint32_t slot) { return slot < entries_.size() ? &entries_[slot] : nullptr; }

    void free(uint32_t slot) {
        entries_[slot] = {};
        free_.push_back(slot);
    }

  private:
    std::vector<Entry> entries_;
    std::vector<uint32_t> free_;
};

}  // namespace millrace::node
