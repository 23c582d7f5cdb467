// Short answers, written into the memory that C++ reads after the crossing.

import { native } from './addon.js';
import {
  COMMAND_END,
  COMMAND_HEAD_BYTES,
  commandBytes,
  commandMemory,
  COMMANDS_BEGIN,
  commandWords,
} from './memory.js';

/** Bodies of up to this many UTF-16 units are written by JavaScript; beyond, a call is cheaper. */
export const SHORT_BODY = 64;
const ROOM = commandMemory.byteLength - COMMANDS_BEGIN - COMMAND_HEAD_BYTES - SHORT_BODY - 4;

/**
 * Answers with a prepared head and a body of up to SHORT_BODY units. False if the body is not
 * ASCII: then nothing has been written.
 *
 * @param {number} slot
 * @param {number} head
 * @param {string} body
 */
export function putEnd(slot, head, body) {
  let used = commandWords[0];
  if (used > ROOM) {
    native.runCommands();
    used = 0;
  }
  const bodyAt = COMMANDS_BEGIN + COMMAND_HEAD_BYTES + used;
  const { length } = body;
  for (let index = 0; index < length; index++) {
    const unit = body.charCodeAt(index);
    if (unit > 127) return false;
    commandBytes[bodyAt + index] = unit;
  }
  const word = (COMMANDS_BEGIN + used) >> 2;
  commandWords[word] = COMMAND_END;
  commandWords[word + 1] = slot;
  commandWords[word + 2] = head;
  commandWords[word + 3] = length;
  commandWords[0] = used + COMMAND_HEAD_BYTES + ((length + 3) & ~3);
  return true;
}
