// The types of the drop-in: what a program may write, and what it must not.

import millrace, {
  App,
  LIBUS_LISTEN_EXCLUSIVE_PORT,
  LIBUS_LISTEN_SHARED_PORT,
  RequestPrefetchPlan,
  us_listen_socket_close,
  us_socket_local_port,
} from 'millrace';
import type {
  AppOptions,
  AppStats,
  HttpRequest,
  HttpResponse,
  RecognizedString,
  RequestSnapshot,
  TemplatedApp,
  us_listen_socket,
} from 'millrace';

const app: TemplatedApp = App({
  limits: { headBytesMax: 1000, headTimeoutMs: undefined },
  automaticHead: true,
});
new App();
new millrace.App({ methodNotAllowed: true });
const named: millrace.TemplatedApp = millrace.App();
named.get('/', (res: millrace.HttpResponse, req: millrace.HttpRequest) => res.end(req.getUrl()));
// @ts-expect-error: not an object
App(null);
// @ts-expect-error: not an object
App(5);
// @ts-expect-error: one argument at the most
App({}, {});
// @ts-expect-error: no such limit
App({ limits: { noSuchLimit: 1 } });
// @ts-expect-error: a number
App({ limits: { headBytesMax: '1000' } });
// @ts-expect-error: a boolean
App({ automaticHead: 1 });
const options: AppOptions = {};
App(options);

app
  .get('/', (res) => res.end())
  .get('/', (res, req) => {
    res.end(req.getUrl());
  })
  .post('/', async (res) => {
    await Promise.resolve();
    res.end();
  })
  .options('/', () => {})
  .del(Buffer.from('/'), () => {})
  .patch('/', null)
  .put('/', () => {})
  .head('/', () => {})
  .connect('/', () => {})
  .trace('/', () => {})
  .any('/*', () => {})
  .close()
  .close();
// @ts-expect-error: a pattern is text
app.get(5, () => {});
// @ts-expect-error: a pattern is text
app.get(null, () => {});
// @ts-expect-error: a handler
app.get('/');
// @ts-expect-error: a handler
app.get('/', 'x');
// @ts-expect-error: a handler gets two arguments
app.get('/', (_res: HttpResponse, _req: HttpRequest, third: number) => third);
// @ts-expect-error: there is no such method
app.delete('/', () => {});

const listened = (token: us_listen_socket | false) => {
  if (token) us_listen_socket_close(token);
  // @ts-expect-error: it may be false
  us_socket_local_port(token);
};
app.listen(3000, listened);
app.listen(3000, LIBUS_LISTEN_EXCLUSIVE_PORT, listened);
app.listen('127.0.0.1', 3000, listened);
app.listen('127.0.0.1', 3000, LIBUS_LISTEN_SHARED_PORT, listened);
app.listen(3000, () => {});
// @ts-expect-error: a callback
app.listen(3000);
// @ts-expect-error: a port is a number
app.listen('3000', listened);
// @ts-expect-error: 0, 1 or 2
app.listen(3000, 3, listened);
// @ts-expect-error: a token is not made by hand
us_listen_socket_close({});
// @ts-expect-error: a token is not null
us_socket_local_port(null);

const stats: AppStats = app.stats();
const writes: number = stats.writes;

export function respond(res: HttpResponse, req: HttpRequest): void {
  res
    .writeStatus('200 OK')
    .writeHeader('a', 'b')
    .writeHeader(Buffer.from('a'), new Uint8Array(1))
    .onAborted(() => {})
    .collectBody(1024, (body: ArrayBuffer | null) => body?.byteLength)
    .onData((chunk, isLast) => {
      const bytes: ArrayBuffer = chunk;
      const flag: boolean = isLast;
      res.write(flag ? bytes : 'x');
    })
    .onWritable((offset) => offset > writes)
    .cork(() => {})
    .collect(() => {})
    .pause()
    .resume()
    .beginWrite();
  const isTaken: boolean = res.write(new SharedArrayBuffer(1));
  const [ok, done]: [boolean, boolean] = res.tryEnd('chunk', 5);
  res.tryEnd('whole');
  res.discardBody();
  res.endBatch('200 OK', ['a', 'b']).endBatch('200 OK', [], Buffer.from('c'));
  res.endWithoutBody().endWithoutBody(5).endWithoutBody(undefined, true);
  res
    .end()
    .end('body', isTaken)
    .end(new DataView(new ArrayBuffer(1)), ok && done);
  const address: ArrayBuffer = res.getRemoteAddress();
  const text: ArrayBuffer = res.getRemoteAddressAsText();
  const figures: number[] = [
    res.getRemotePort(),
    res.getWriteOffset(),
    res.getBufferedAmount(),
    res.getProxiedRemotePort(),
    res.getProxiedRemoteAddress().byteLength,
    res.getProxiedRemoteAddressAsText().byteLength,
    address.byteLength + text.byteLength,
  ];
  figures.push(1);
  res.close();

  // @ts-expect-error: a status is text
  res.writeStatus(200);
  // @ts-expect-error: a value is text
  res.writeHeader('a', 5);
  // @ts-expect-error: a value is given
  res.writeHeader('a');
  // @ts-expect-error: a body is text or bytes
  res.end(5);
  // @ts-expect-error: a body is text or bytes
  res.end(null);
  // @ts-expect-error: a chunk is given
  res.write();
  // @ts-expect-error: a length is a number
  res.endWithoutBody('5');
  // @ts-expect-error: onWritable tells whether it is done
  res.onWritable(() => {});
  // @ts-expect-error: a function
  res.onAborted();
  // @ts-expect-error: there is no such method
  res.send('x');

  const method: string = req.getMethod() + req.getCaseSensitiveMethod() + req.getUrl();
  const header: string = req.getHeader('host') + req.getHeader(Buffer.from('host')) + method;
  const parameter: string | undefined = req.getParameter(0) ?? req.getParameter('name');
  const query: string | undefined = req.getQuery() ?? req.getQuery('a');
  req.forEach((name, value) => name.length + value.length + header.length);
  const plan = new RequestPrefetchPlan({ headers: ['a'] });
  const snapshot: RequestSnapshot = req.prefetch(plan);
  const read: string | undefined = snapshot.getHeader('a') ?? snapshot.getHeaders()['a'];
  const many: readonly string[] = snapshot.getHeaderValues('a') ?? plan.headerNames;
  const same: HttpRequest = req.setYield(true);
  // @ts-expect-error: it may be undefined
  const wrongQuery: string = req.getQuery();
  // @ts-expect-error: it may be undefined
  const wrongParameter: string = same.getParameter(0);
  // @ts-expect-error: a name is text
  req.getHeader(5);
  // @ts-expect-error: a function
  req.forEach();
  const all: RecognizedString[] = [wrongQuery, wrongParameter, parameter ?? '', query ?? ''];
  all.push(new Float64Array(1), new ArrayBuffer(1), read ?? '', ...many);
  // @ts-expect-error: 'all' or names
  new RequestPrefetchPlan({ headers: 'any' });
}
