// SPDX-License-Identifier: MIT
'use strict';

// The echo server on grpc-js; what a request asks for is in
// examples/echo.proto. `response_encoding` has no effect: this stack's server
// reads every codec of its client, and sends identity alone.

const { once } = require('node:events');
const { setTimeout: sleep } = require('node:timers/promises');
const grpc = require('@grpc/grpc-js');
const { service, options } = require('./echo');

// Waits as the request asks, but not longer than the client does.
async function delay(call, request) {
  if (request.delay_ms === 0) {
    return;
  }
  const over = new AbortController();
  const cancelled = () => over.abort();
  call.once('cancelled', cancelled);
  try {
    await sleep(request.delay_ms, undefined, { signal: over.signal });
  } catch (error) {
    if (!over.signal.aborted) {
      throw error;
    }
  } finally {
    call.removeListener('cancelled', cancelled);
  }
}

// Rejects with the status that the request asks for, if it asks for one.
async function prepare(call, request) {
  await delay(call, request);
  if (request.status_code !== 0) {
    throw { code: request.status_code, details: request.status_message };
  }
}

async function unary(call) {
  await prepare(call, call.request);
  return { payload: call.request.payload };
}

// The requests of a call. The default iterator would destroy the call, and with
// it the way to send a status, when the loop over it ends by an error.
function requests(call) {
  return call.iterator({ destroyOnReturn: false });
}

async function clientStream(call) {
  let total = 0;
  let payload = Buffer.alloc(0);
  for await (const request of requests(call)) {
    await prepare(call, request);
    total += request.payload.length;
    payload = request.payload;
  }
  return { payload, total };
}

// Answers in a stream, no faster than the client reads.
async function send(call, response) {
  if (call.write(response) || call.cancelled) {
    return;
  }
  const over = new AbortController();
  try {
    await Promise.race([
      once(call, 'drain', { signal: over.signal }),
      once(call, 'cancelled', { signal: over.signal }),
    ]);
  } finally {
    // Takes the listener away that is still there.
    over.abort();
  }
}

async function serverStream(call) {
  await prepare(call, call.request);
  for (let i = 0; i < call.request.count && !call.cancelled; i++) {
    await send(call, { payload: call.request.payload });
  }
}

async function bidiStream(call) {
  for await (const request of requests(call)) {
    await prepare(call, request);
    await send(call, { payload: request.payload });
  }
}

// Makes a handler of an async function that returns the one response.
function answering(handle) {
  return (call, callback) => {
    handle(call).then((response) => callback(null, response), callback);
  };
}

// Makes a handler of an async function that writes its responses.
function streaming(handle) {
  return (call) => {
    handle(call).then(
      () => call.end(),
      (error) => call.emit('error', error)
    );
  };
}

const server = new grpc.Server(options);
server.addService(service, {
  Unary: answering(unary),
  ClientStream: answering(clientStream),
  ServerStream: streaming(serverStream),
  BidiStream: streaming(bidiStream),
});
server.bindAsync(
  '127.0.0.1:0',
  grpc.ServerCredentials.createInsecure(),
  (error, port) => {
    if (error) {
      console.error(`server: ${error.message}`);
      process.exit(1);
    }
    console.log(`listening ${port}`);
  }
);
process.on('SIGTERM', () => {
  server.forceShutdown();
  process.exit(0);
});
