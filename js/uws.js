// millrace: the drop-in for uWebSockets.js.

import { ListenSocket, TemplatedApp } from './native/app.js';
import { LISTEN_DEFAULT, LISTEN_EXCLUSIVE_PORT, LISTEN_SHARED_PORT } from './native/arguments.js';
import { RequestPrefetchPlan } from './native/prefetch.js';
import { makeTypeError } from './shared/values.js';

/**
 * Makes an HTTP app. Works with and without `new`.
 *
 * @param {object[]} options none, or one object
 */
export function App(...options) {
  if (options.length > 1) throw makeTypeError('App(options?) expects one argument at the most');
  return new TemplatedApp(options[0]);
}

/** Stops accepting on a listen socket; open connections stay. */
export function us_listen_socket_close(socket) {
  ListenSocket.close(socket);
}

/** The port of a listen socket, -1 if it is closed. */
export function us_socket_local_port(socket) {
  return ListenSocket.localPort(socket);
}

export { RequestPrefetchPlan };

export const LIBUS_LISTEN_DEFAULT = LISTEN_DEFAULT;
export const LIBUS_LISTEN_EXCLUSIVE_PORT = LISTEN_EXCLUSIVE_PORT;
export const LIBUS_LISTEN_SHARED_PORT = LISTEN_SHARED_PORT;

export default {
  App,
  us_listen_socket_close,
  us_socket_local_port,
  RequestPrefetchPlan,
  LIBUS_LISTEN_DEFAULT,
  LIBUS_LISTEN_EXCLUSIVE_PORT,
  LIBUS_LISTEN_SHARED_PORT,
};
