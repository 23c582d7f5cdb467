/** Text and data: bytes are taken as they are, strings as UTF-8. */
export type RecognizedString = string | ArrayBuffer | SharedArrayBuffer | ArrayBufferView;

/** What a listen callback gets: names one listening socket. */
export interface us_listen_socket {
  readonly __brand: 'us_listen_socket';
}

/**
 * The answer to one request, for ever. After it is complete, or its connection is gone, every call
 * throws an error with the code ERR_MILLRACE_RESPONSE_GONE.
 */
export interface HttpResponse {
  /**
   * Sets the status: three digits, alone or followed by a space and a reason. 200 OK if never
   * called; the first call wins. Throws once the head has been sent (ERR_MILLRACE_HEAD_SENT).
   */
  writeStatus(status: RecognizedString): HttpResponse;

  /**
   * Appends a field. Content-Length and Transfer-Encoding are the engine's: a Content-Length is
   * kept for endWithoutBody() and otherwise replaced by the true one. Throws once the head has been
   * sent.
   */
  writeHeader(key: RecognizedString, value: RecognizedString): HttpResponse;

  /**
   * Sends a piece of a body of unknown length. False if bytes had to be queued: they are not lost,
   * but wait for onWritable() before writing more. An empty piece sends nothing.
   */
  write(chunk: RecognizedString): boolean;

  /** Sends the head of a body of unknown length at once. */
  beginWrite(): HttpResponse;

  /** Completes the response; with `closeConnection`, the connection ends behind it. */
  end(body?: RecognizedString, closeConnection?: boolean): HttpResponse;

  /**
   * Status, fields (name, value, name, value, ...) and body in one call. Everything is checked
   * first: if it throws, the response is as it was. A status that was written before counts.
   */
  endBatch(
    status: RecognizedString,
    headerLines: readonly RecognizedString[],
    body?: RecognizedString,
  ): HttpResponse;

  /**
   * Completes the response without a body, for answers to HEAD with the length that the body would
   * have. Without a length, an answer that could have had a body says that it is empty.
   */
  endWithoutBody(reportedLength?: number, closeConnection?: boolean): HttpResponse;

  /**
   * Sends a piece of a body of `totalSize` bytes (0 or none: the piece is the whole) without
   * queueing any of it. Gives whether the whole piece was taken, and whether the response is
   * complete. Go on from getWriteOffset() when onWritable() tells. Throws if the piece is more than
   * what is missing (ERR_MILLRACE_LENGTH_MISMATCH).
   */
  tryEnd(chunk: RecognizedString, totalSize?: number): [ok: boolean, done: boolean];

  /** Closes the connection at once; all its requests that are not answered are aborted. */
  close(): HttpResponse;

  /** Bytes of the body that were accepted so far. */
  getWriteOffset(): number;

  /** Bytes that wait because the peer does not take them. */
  getBufferedAmount(): number;

  /**
   * Sets the function to be called when output that had to wait has been taken. It returns false if
   * it wants to be called again though it has written nothing. The last one set counts.
   */
  onWritable(handler: (offset: number) => boolean): HttpResponse;

  /**
   * Sets the function to be called once if the connection goes before the response is complete. The
   * last one set counts.
   */
  onAborted(handler: () => void): HttpResponse;

  /**
   * Sets the function to be called with the request's body, piece by piece, the last marked. May be
   * set at any time before the response is complete; without a body it gets one empty last piece.
   * The chunk is detached when the function returns.
   */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): HttpResponse;

  /**
   * Calls the function once with the whole body, or with null as soon as more than `maxSize` bytes
   * have come; either way the response is still to be answered. The ArrayBuffer is the program's.
   * Takes the place of onData().
   */
  collectBody(maxSize: number, handler: (body: ArrayBuffer | null) => void): HttpResponse;

  /** Reads the body and drops it. The response may be answered later. */
  discardBody(): void;

  /** Stops the pieces of the body until resume(). */
  pause(): HttpResponse;
  resume(): HttpResponse;

  /** Calls the function. Output is gathered with and without it. */
  cork(callback: () => void): HttpResponse;
  collect(callback: () => void): HttpResponse;

  /** The peer's address in network order, 4 or 16 bytes; empty if it is unknown. */
  getRemoteAddress(): ArrayBuffer;
  /** The same as text: dotted decimal, or eight groups of four hexadecimal digits. */
  getRemoteAddressAsText(): ArrayBuffer;
  /** The peer's port; 0 if it is unknown. */
  getRemotePort(): number;

  /** What a proxy said of the peer; empty, since no proxy protocol is spoken. */
  getProxiedRemoteAddress(): ArrayBuffer;
  getProxiedRemoteAddressAsText(): ArrayBuffer;
  getProxiedRemotePort(): number;
}

/**
 * A request. Valid until its handler returns: later calls throw an error with the code
 * ERR_MILLRACE_REQUEST_GONE.
 */
export interface HttpRequest {
  /** The method in lower case. */
  getMethod(): string;
  /** The method as received. */
  getCaseSensitiveMethod(): string;
  /** The path, not decoded, without the query. */
  getUrl(): string;
  /** What stands behind the first '?', not decoded; undefined without '?'. */
  getQuery(): string | undefined;
  /** The decoded value of the first pair with this name; undefined if there is none. */
  getQuery(key: RecognizedString): string | undefined;
  /** The first value of a field, '' if there is none. The name matches in any case. */
  getHeader(name: RecognizedString): string;
  /** A parameter of the route, not decoded, by its number from 0 or by its name. */
  getParameter(indexOrName: number | RecognizedString): string | undefined;
  /** Calls the function with each field in the order of the wire, names in lower case. */
  forEach(callback: (name: string, value: string) => void): void;
  /** Takes fields that may be read after the handler has returned. */
  prefetch(plan: RequestPrefetchPlan): RequestSnapshot;
  /** Passes the request on to the next matching route, if the handler returns without an answer. */
  setYield(isYield: boolean): HttpRequest;
}

/**
 * Called with each request of a route. When it returns, or when the promise that it returns is
 * fulfilled, it is expected to have answered, or to have asked to be told of something (onAborted,
 * onData, onWritable).
 */
export type HttpHandler = (res: HttpResponse, req: HttpRequest) => unknown;

/** 0: the port is this listener's own. 1: likewise. 2: shared with others that say so. */
export type ListenOptions = 0 | 1 | 2;

/** Sizes and times of an app, each with its default. */
export interface HttpLimits {
  /** Request line and fields, in bytes: 431, or 414. Default 16 KiB; 64 to 256 KiB. */
  headBytesMax?: number | undefined;
  /** Fields of a request: 431. Default 100. */
  fieldsMax?: number | undefined;
  /** Chunk extensions of one body, in bytes: 400. Default 16 KiB. */
  chunkExtensionBytesMax?: number | undefined;
  /** Trailers of one body, in bytes: 431. Default 8 KiB. */
  trailerBytesMax?: number | undefined;
  /** Framing of a chunked body beyond 16 KiB, in percent of its data: 400. Default 600. */
  chunkOverheadPercentMax?: number | undefined;
  /** Bytes of a body that are held until somebody reads it. Default 64 KiB. */
  bodyHoldBytesMax?: number | undefined;
  /** Bytes of a body that are read and dropped after the answer. Default 1 MiB. */
  bodyDiscardBytesMax?: number | undefined;
  /** Unanswered requests of a connection, beyond which it is not read. Default 32. */
  pipelineMax?: number | undefined;
  /** For a whole head, in milliseconds: 408. Default 10 s. */
  headTimeoutMs?: number | undefined;
  /** Between two pieces of a body, in milliseconds. Default 30 s. */
  bodyIdleTimeoutMs?: number | undefined;
  /** Between an answer and the next request, in milliseconds. Default 72 s. */
  keepAliveTimeoutMs?: number | undefined;
  /** How long a peer may take nothing of an answer, in milliseconds. Default 30 s. */
  writeStallTimeoutMs?: number | undefined;
  /** After an answer that ends the connection, in milliseconds. Default 2 s. */
  lingerTimeoutMs?: number | undefined;
}

export interface AppOptions {
  limits?: HttpLimits | undefined;
  /** Answers HEAD by the GET route where there is no HEAD route. Default false. */
  automaticHead?: boolean | undefined;
  /** Answers 405 with Allow where the path has routes for other methods. Default false: 404. */
  methodNotAllowed?: boolean | undefined;
}

/** Figures of an app (the first six), and of the loop of its thread. */
export interface AppStats {
  connections: number;
  accepted: number;
  requests: number;
  rejected: number;
  aborted: number;
  timeouts: number;
  turns: number;
  batches: number;
  events: number;
  reads: number;
  /** Each to one connection. */
  writes: number;
  /** Those of them that left in one system call with others. */
  groupedWrites: number;
  bytesRead: number;
  bytesWritten: number;
}

type ListenCallback = (listenSocket: us_listen_socket | false) => void;

export interface TemplatedApp {
  /** Registers a handler; null takes the route away. */
  get(pattern: RecognizedString, handler: HttpHandler | null): TemplatedApp;
  post(pattern: RecognizedString, handler: HttpHandler | null): TemplatedApp;
  options(pattern: RecognizedString, handler: HttpHandler | null): TemplatedApp;
  del(pattern: RecognizedString, handler: HttpHandler | null): TemplatedApp;
  patch(pattern: RecognizedString, handler: HttpHandler | null): TemplatedApp;
  put(pattern: RecognizedString, handler: HttpHandler | null): TemplatedApp;
  head(pattern: RecognizedString, handler: HttpHandler | null): TemplatedApp;
  connect(pattern: RecognizedString, handler: HttpHandler | null): TemplatedApp;
  trace(pattern: RecognizedString, handler: HttpHandler | null): TemplatedApp;
  /** For all methods. */
  any(pattern: RecognizedString, handler: HttpHandler | null): TemplatedApp;

  /** Listens. The callback runs before listen returns. Port 0: the kernel chooses. */
  listen(port: number, callback: ListenCallback): TemplatedApp;
  listen(port: number, options: ListenOptions | undefined, callback: ListenCallback): TemplatedApp;
  listen(host: RecognizedString, port: number, callback: ListenCallback): TemplatedApp;
  listen(
    host: RecognizedString,
    port: number,
    options: ListenOptions | undefined,
    callback: ListenCallback,
  ): TemplatedApp;

  /** Closes listeners and connections at once. The app may listen again. */
  close(): TemplatedApp;

  stats(): AppStats;
}

/** What prefetch() took. Names match in any case, values are Latin-1. */
export interface RequestSnapshot {
  /** The first value; undefined if there is none, or the plan did not want it. */
  getHeader(name: RecognizedString): string | undefined;
  /** All values in the order of the wire; undefined if there is none. */
  getHeaderValues(name: RecognizedString): readonly string[] | undefined;
  /** Value by name in lower case; of several values of one name the last. */
  getHeaders(): Record<string, string>;
  /** Name, value, name, value, ... in the order of the wire, names in lower case. */
  getHeaderEntries(): readonly string[];
}

/** Which fields prefetch() takes. Make it once, for many requests; it is frozen. */
export class RequestPrefetchPlan {
  constructor(options: { headers: 'all' | readonly string[] });
  /** In lower case, each once; empty for 'all'. */
  readonly headerNames: readonly string[];
}

interface AppFunction {
  (options?: AppOptions): TemplatedApp;
  new (options?: AppOptions): TemplatedApp;
}

/** Makes an HTTP app. Works with and without `new`. */
export const App: AppFunction;

/** Stops accepting on a listen socket; open connections stay. */
export function us_listen_socket_close(listenSocket: us_listen_socket): void;

/** The port of a listen socket, -1 if it is closed. */
export function us_socket_local_port(listenSocket: us_listen_socket): number;

export const LIBUS_LISTEN_DEFAULT: 0;
export const LIBUS_LISTEN_EXCLUSIVE_PORT: 1;
export const LIBUS_LISTEN_SHARED_PORT: 2;

/** All of it under one name: `millrace.App()`, and as a type `millrace.HttpResponse`. */
declare namespace millrace {
  export {
    App,
    AppOptions,
    AppStats,
    HttpHandler,
    HttpLimits,
    HttpRequest,
    HttpResponse,
    LIBUS_LISTEN_DEFAULT,
    LIBUS_LISTEN_EXCLUSIVE_PORT,
    LIBUS_LISTEN_SHARED_PORT,
    ListenOptions,
    RecognizedString,
    RequestPrefetchPlan,
    RequestSnapshot,
    TemplatedApp,
    us_listen_socket,
    us_listen_socket_close,
    us_socket_local_port,
  };
}

export default millrace;
