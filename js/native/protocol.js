// The memory that C++ and JavaScript share, word by word. node/protocol.h says the same.

/** Events: C++ writes, JavaScript reads. Four words each: kind and flags, slot, and two more. */
export const EVENT_WORDS = 4;
export const EVENT_REQUEST = 1; // route, index of the request in the batch
export const EVENT_BODY = 2; // offset in the receive arena, bytes
export const EVENT_ABORTED = 3;
export const EVENT_WRITABLE = 4;
export const KIND_MASK = 0xff;
export const BODY_IS_LAST = 1 << 8;

/** Commands: JavaScript writes, C++ reads. Word 0: bytes in use behind COMMANDS_BEGIN. */
export const COMMANDS_BEGIN = 16;
export const COMMAND_END = 1; // slot, number of a prepared head, bytes of the body; the body
export const COMMAND_HEAD_BYTES = 16;

export const NO_ROUTE = 0xffffffff;
