// SPDX-License-Identifier: MIT
// A server of Node's http2 module on a free port of 127.0.0.1, which it
// prints, and, with a port as argument, its client instead.
'use strict';
const http2 = require('http2');

function answer(stream, headers) {
  const path = headers[':path'];
  if (path === '/push') {
    stream.pushStream({':path': '/pushed'}, (err, pushed) => {
      pushed.respond({':status': 200});
      pushed.end('pushed body');
    });
  }
  if (path === '/hints') {
    stream.additionalHeaders({':status': 103, 'link': '</a>; rel=preload'});
  }
  if (path === '/goaway') {
    stream.session.goaway(0, stream.id, Buffer.from('bye'));
  }
  stream.respond({':status': 200, 'content-type': 'text/plain'},
    {waitForTrailers: path === '/trailers'});
  stream.on('wantTrailers', () => stream.sendTrailers({'x-sum': 'abc'}));
  let n = 0;
  stream.on('data', (chunk) => { n += chunk.length; });
  stream.on('end', () => stream.end(`got ${n}`));
}

function call(session, path, body) {
  return new Promise((done, fail) => {
    const req = session.request({':path': path, ':method': 'POST'});
    let n = 0;
    req.on('data', (chunk) => { n += chunk.length; });
    req.on('end', () => done([path, n]));
    req.on('error', fail);
    req.end(body);
  });
}

async function client(port) {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  const pushed = new Promise((done) => {
    session.on('stream', (stream, headers) => {
      let n = 0;
      stream.on('data', (chunk) => { n += chunk.length; });
      stream.on('end', () => done([headers[':path'], n]));
    });
  });
  const results = [
    await call(session, '/trailers', 'x'.repeat(100000)),
    await call(session, '/hints', 'abc'),
    await call(session, '/push', ''),
    await pushed,
    await new Promise((done, fail) => {
      session.ping((err) => err ? fail(err) : done(['ping', 0]));
    }),
    await call(session, '/goaway', 'abc'),
  ];
  console.log(results.map((r) => r.join(' ')).join('\n'));
  // A pushed stream keeps the session, and so the process, from its end.
  process.exit();
}

if (process.argv[2]) {
  client(process.argv[2]);
} else {
  const server = http2.createServer();
  server.on('stream', answer);
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}
