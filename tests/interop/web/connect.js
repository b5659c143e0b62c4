// SPDX-License-Identifier: MIT
'use strict';

// Calls through the gRPC-Web transport of connect-node: binary, with compressed
// messages, and streams in both directions over HTTP/2.

const http = require('node:http');
const http2 = require('node:http2');
const { promisify } = require('node:util');
const zlib = require('node:zlib');
const { ConnectError } = require('@connectrpc/connect');
const {
  compressionGzip,
  createGrpcWebTransport,
} = require('@connectrpc/connect-node');
const echo = require('./echo');

const LIMIT = 64 * 1024 * 1024;

const algorithms = {
  identity: null,
  gzip: compressionGzip,
  deflate: {
    name: 'deflate',
    compress: promisify(zlib.deflate),
    decompress: promisify(zlib.inflate),
  },
};

// A codec that no server knows; the messages are flagged and unchanged.
const rot0 = {
  name: 'grpctap-rot0',
  compress: async (bytes) => bytes,
  decompress: async (bytes) => bytes,
};

// One HTTP/2 connection. That of connect-node can only be aborted, with an
// error in its GOAWAY.
class SessionManager {
  constructor(target) {
    this.authority = `http://${target}`;
    this.session = http2.connect(this.authority);
    this.session.on('error', () => {}); // its streams tell
  }

  async request(method, path, headers, options) {
    const fields = { ...headers, ':method': method, ':path': path };
    return this.session.request(fields, options);
  }

  notifyResponseByteRead() {}
}

function connection(target, httpVersion) {
  if (httpVersion === '1.1') {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    return {
      options: { httpVersion, nodeOptions: { agent } },
      close: () => agent.destroy(),
    };
  }
  const sessionManager = new SessionManager(target);
  return {
    options: { httpVersion, sessionManager },
    close: () => sessionManager.session.close(),
  };
}

// The status that a call ended with; what is none goes on its way.
function statusOf(error) {
  if (!(error instanceof ConnectError)) {
    throw error;
  }
  return { code: error.code, message: error.rawMessage };
}

class Calls {
  static encodings = Object.keys(algorithms);
  static cannot = {};

  constructor({ target, httpVersion, encoding, isUnknown }) {
    const codec = isUnknown ? rot0 : algorithms[encoding];
    const { options, close } = connection(target, httpVersion);
    this.close = close;
    this.transport = createGrpcWebTransport({
      ...options,
      baseUrl: `http://${target}`,
      sendCompression: codec ?? undefined,
      acceptCompression: codec ? [codec] : [],
      compressMinBytes: 0,
      readMaxBytes: LIMIT,
      writeMaxBytes: LIMIT,
    });
  }

  // Makes a call of the requests that the async iterable `input` yields, gives
  // its responses to `onResponse`, and returns its status.
  async call(name, input, { signal, timeoutMs, onResponse }) {
    const method = echo.method(name);
    const args = [method, signal, timeoutMs, undefined];
    try {
      if (method.methodKind === 'unary') {
        const { value } = await input[Symbol.asyncIterator]().next();
        onResponse((await this.transport.unary(...args, value)).message);
      } else {
        const response = await this.transport.stream(...args, input);
        for await (const message of response.message) {
          onResponse(message);
        }
      }
    } catch (error) {
      return statusOf(error);
    }
    return { code: 0, message: '' };
  }
}

module.exports = { Calls };
