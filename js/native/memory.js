// The memory that C++ and JavaScript share, word by word; node/protocol.h says the same. Made here,
// since C++ may hold on to an ArrayBuffer of JavaScript in every runtime, but may not make an
// external one in every runtime. Never handed out.

import { Buffer } from 'node:buffer';

const EVENT_BYTES = 64 * 1024;
const COMMAND_BYTES = 64 * 1024;
const RECEIVE_BYTES = 512 * 1024;

/** Not filled with zeros: pages that are never used are then never taken. */
const makeMemory = (bytes) => Buffer.allocUnsafeSlow(bytes).buffer;

export const eventMemory = makeMemory(EVENT_BYTES);
export const commandMemory = makeMemory(COMMAND_BYTES);
export const receiveMemory = makeMemory(RECEIVE_BYTES);

export const eventWords = new Uint32Array(eventMemory);
export const commandWords = new Uint32Array(commandMemory);
export const commandBytes = new Uint8Array(commandMemory);

commandWords[0] = 0;

/**
 * Events: C++ writes, JavaScript reads. Words 0 and 1: how many they are, and the number of their
 * batch. From word 4 on, four words each: kind and flags, slot, and two more.
 */
export const EVENT_COUNT = 0;
export const EVENT_BATCH = 1;
export const EVENTS_BEGIN = 4;
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
