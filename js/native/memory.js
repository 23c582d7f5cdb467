// The memory shared with C++. Made here, since C++ may hold on to an ArrayBuffer of JavaScript in every
// runtime, but may not make an external one in every runtime. Never handed out.

const EVENT_BYTES = 64 * 1024;
const COMMAND_BYTES = 256 * 1024;
const RECEIVE_BYTES = 512 * 1024;

export const eventMemory = new ArrayBuffer(EVENT_BYTES);
export const commandMemory = new ArrayBuffer(COMMAND_BYTES);
export const receiveMemory = new ArrayBuffer(RECEIVE_BYTES);

export const eventWords = new Uint32Array(eventMemory);
export const commandWords = new Uint32Array(commandMemory);
export const commandBytes = new Uint8Array(commandMemory);
