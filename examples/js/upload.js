// Bodies: what is sent to /upload is counted while it arrives, however late the handler begins to
// read. Usage: node examples/js/upload.js [port]

import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import uWS from 'millrace';

const wanted = Number(process.argv[2] ?? 3000);

uWS
  .App()
  .post('/upload', async (res) => {
    let isGone = false;
    res.onAborted(() => {
      isGone = true;
    });
    await delay(10); // a look into a database, say: the body waits
    if (isGone) return;
    let bytes = 0;
    res.onData((chunk, isLast) => {
      bytes += chunk.byteLength;
      if (isLast) res.end(`${bytes} bytes\n`);
    });
  })
  .listen('127.0.0.1', wanted, (socket) => {
    if (!socket) throw new Error(`port ${wanted} is in use`);
    console.log(`listening on ${uWS.us_socket_local_port(socket)}`);
  });
