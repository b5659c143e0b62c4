// SPDX-License-Identifier: MIT
// A server of Node's http module on a free port of 127.0.0.1, which it prints,
// and, with a port as argument, its client instead.
'use strict';
const http = require('http');
const zlib = require('zlib');

function answer(req, res) {
  if (req.url === '/trailers') {
    res.writeHead(200, {'Trailer': 'X-Sum', 'Content-Type': 'text/plain'});
    res.write('one');
    res.write('two, longer');
    res.addTrailers({'X-Sum': 'abc'});
    return res.end();
  }
  if (req.url === '/hints') {
    return res.writeEarlyHints({link: '</a.css>; rel=preload'}, () => {
      res.end('hinted');
    });
  }
  if (req.url === '/deflate') {
    res.writeHead(200, {'Content-Encoding': 'deflate',
      'Vary': 'Accept-Encoding'});
    return res.end(zlib.deflateSync('x'.repeat(5000)));
  }
  let n = 0;
  req.on('data', (chunk) => { n += chunk.length; });
  req.on('end', () => { res.end(`got ${n}`); });
}

function upgrade(req, socket) {
  if (req.headers.upgrade !== 'echo') {
    return socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n' +
      'Connection: close\r\n\r\n');
  }
  socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n' +
    'Connection: Upgrade\r\n\r\n');
  socket.pipe(socket);
}

function call(options, body) {
  return new Promise((done, fail) => {
    const req = http.request(options, (res) => {
      let n = 0;
      res.on('data', (chunk) => { n += chunk.length; });
      res.on('end', () => done([res.statusCode, n]));
    });
    req.on('error', fail);
    req.on('continue', () => req.end(body));
    if (!(options.headers || {}).Expect) {
      for (const part of body || []) {
        req.write(part);
      }
      req.end();
    }
  });
}

async function client(port) {
  const agent = new http.Agent({keepAlive: true, maxSockets: 1});
  const base = {host: '127.0.0.1', port, agent};
  const results = [
    await call({...base, path: '/trailers'}),
    await call({...base, path: '/hints'}),
    await call({...base, path: '/deflate',
      headers: {'Accept-Encoding': 'deflate'}}),
    await call({...base, path: '/post', method: 'POST'}, ['abc', 'defgh']),
    await call({...base, path: '/post', method: 'POST',
      headers: {'Expect': '100-continue', 'Content-Length': 5}}, 'hello'),
  ];
  console.log(results.map((r) => r.join(' ')).join('\n'));
  agent.destroy();
}

if (process.argv[2]) {
  client(process.argv[2]);
} else {
  const server = http.createServer(answer);
  server.on('upgrade', upgrade);
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}
