// Who may include or import whom. The picture of this table is in ARCHITECTURE.md.

/**
 * A room is a folder (or one file); the longest matching entry counts. `uses` names the rooms whose
 * files it may include besides its own; `packages` the modules it may import besides node:*.
 * @typedef {{ room: string, uses: string[], packages?: string[] | 'any' }} Room
 */

const protocolRooms = [
  'core/net',
  'core/tls',
  'core/http',
  'core/ws',
  'core/routing',
  'core/pubsub',
];
const ground = ['core/base', 'include/millrace'];
// Includes nothing of the engine, so that the load generator and the ceiling may have it too.
const ring = 'core/net/io_ring.h';
const engine = ['core/api', 'core/server', 'core/client', ...protocolRooms, ...ground];

/** @type {Room[]} */
export const rooms = [
  { room: 'include/millrace', uses: [] },
  { room: 'core/base', uses: ['include/millrace'] },
  ...protocolRooms.map((room) => ({
    room,
    uses: room === 'core/net' ? [...ground, ring] : ground,
  })),
  { room: ring, uses: [] },
  { room: 'core/server', uses: [...protocolRooms, ...ground] },
  { room: 'core/client', uses: [...protocolRooms, ...ground] },
  { room: 'core/api', uses: ['core/server', 'core/client', ...ground] },
  { room: 'core/testing', uses: ['core/net', ...ground] },
  { room: 'node', uses: ['include/millrace'] },
  { room: 'examples/cpp', uses: ['include/millrace'] },
  { room: 'tests/install', uses: ['include/millrace'] },
  { room: 'tests', uses: ['core/testing', ...engine] },
  { room: 'fuzz', uses: ['core/testing', ...engine] },
  { room: 'bench', uses: ['include/millrace'], packages: 'any' },
  { room: 'bench/load', uses: ['bench', 'bench/limit', ring] },
  { room: 'bench/limit', uses: [ring] },
  { room: 'bench/micro', uses: engine },

  { room: 'js', uses: [], packages: [] },
  { room: 'js/shared', uses: [], packages: [] },
  { room: 'js/native', uses: ['js/shared'], packages: [] },
  { room: 'js/uws.js', uses: ['js/native', 'js/shared', 'js/uws'], packages: [] },
  { room: 'js/uws', uses: ['js/native', 'js/shared'], packages: [] },
  { room: 'js/server', uses: ['js/native', 'js/shared'], packages: [] },
  { room: 'js/http', uses: ['js/native', 'js/shared'], packages: [] },
  { room: 'js/client', uses: ['js/native', 'js/shared'], packages: [] },
  { room: 'demo', uses: [], packages: ['millrace'] },
  { room: 'examples/js', uses: [], packages: ['millrace'] },
  { room: 'tests/js', uses: [], packages: ['millrace'] },
  { room: 'tests/types', uses: [], packages: ['millrace'] },
  { room: 'tools', uses: ['demo', 'eslint.config.js'], packages: 'any' },
  { room: 'eslint.config.js', uses: ['tools'], packages: 'any' },
];

// A *_test.cc may use, besides what its room may, these.
export const testRooms = ['core/testing', ...ground];

/**
 * A header of the system or of a third party, and the only places that may include it.
 * @type {{ header: RegExp, doors: RegExp[] }[]}
 */
export const doors = [
  {
    header: /^(sys\/(epoll|eventfd|timerfd|socket|un|ioctl)\.h|netinet\/|arpa\/|netdb\.h|poll\.h)/,
    doors: [/^core\/net\//, /^core\/testing\//, /^bench\//, /^tests\//],
  },
  // iovec: the pieces of a gathered write.
  {
    header: /^sys\/uio\.h$/,
    doors: [/^core\/(net|server|testing)\//, /^bench\//, /^tests\//],
  },
  {
    header: /^(unistd|fcntl)\.h$/,
    doors: [/^core\/net\//, /^core\/testing\//, /^bench\//, /^tests\//, /^fuzz\//],
  },
  { header: /^openssl\//, doors: [/^core\/tls\//] },
  { header: /^zlib\.h$/, doors: [/^core\/ws\/deflate_stream\.cc$/] },
  { header: /^(node_api|js_native_api|uv)\.h$|^uv\//, doors: [/^node\//] },
  { header: /^g(test|mock)\//, doors: [/_test\.cc$/, /^core\/testing\//, /^tests\//] },
  { header: /^benchmark\//, doors: [/^bench\//, /_bench\.cc$/] },
];
