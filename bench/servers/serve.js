// A server under test, driven by its parent over the IPC channel so that nothing but load comes in
// on its port. Both sides of a comparison run this very code with another module behind it.
//
//   child to parent   {type: 'ready', port, pid, versions}   once
//   parent to child   {type: 'reset'}      starts a window; answered with {type: 'reset'}
//                     {type: 'snapshot'}   answered with memory and the window's loop utilisation
//                     {type: 'collect'}    collects garbage, under --expose-gc; answered likewise
//                     {type: 'stop'}       ends the process

const loopUtilization = (since) => performance.eventLoopUtilization(since);
const slowMs = 1;

function answer(res) {
  res.writeHeader('content-type', 'application/json');
  res.end('{"ok":true}');
}

function spin() {
  const end = performance.now() + slowMs;
  while (performance.now() < end);
}

const routes = {
  '/': (res) => {
    res.writeHeader('content-type', 'application/json');
    res.end('{"ok":true}');
  },
  '/with-request': (res, _req) => answer(res),
  '/fast': (res) => answer(res),
  '/slow': (res) => {
    spin();
    answer(res);
  },
};

/** Serves the benchmark's routes with a module that has the interface of uWebSockets.js. */
export function serve(uWS) {
  const app = uWS.App();
  for (const [path, handler] of Object.entries(routes)) app.get(path, handler);
  app.listen('127.0.0.1', 0, (socket) => {
    if (!socket) throw new Error('cannot listen');
    obeyParent();
    const port = uWS.us_socket_local_port(socket);
    process.send({ type: 'ready', port, pid: process.pid, versions: process.versions });
  });
}

function obeyParent() {
  let windowBegin = loopUtilization();
  process.on('message', ({ type }) => {
    if (type === 'stop') process.exit(0);
    if (type === 'collect') {
      globalThis.gc?.();
      process.send({ type });
    }
    if (type === 'reset') {
      windowBegin = loopUtilization();
      process.send({ type });
    }
    if (type === 'snapshot') {
      const memory = process.memoryUsage();
      const { utilization } = loopUtilization(windowBegin);
      process.send({ type, memory, loopUtilization: utilization });
    }
  });
  process.on('disconnect', () => process.exit(0));
}
