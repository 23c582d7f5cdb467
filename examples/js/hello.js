// The smallest server: one route, one answer. Usage: node examples/js/hello.js [port]

import process from 'node:process';
import uWS from 'millrace';

const wanted = Number(process.argv[2] ?? 3000);

uWS
  .App()
  .get('/', (res) => {
    res.writeHeader('content-type', 'application/json').end('{"ok":true}');
  })
  .listen('127.0.0.1', wanted, (socket) => {
    if (!socket) throw new Error(`port ${wanted} is in use`);
    console.log(`listening on ${uWS.us_socket_local_port(socket)}`);
  });
