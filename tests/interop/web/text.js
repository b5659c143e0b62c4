// SPDX-License-Identifier: MIT
'use strict';

// Calls through grpc-web, the client for browsers, in its text form: the body
// is base64. Its framing and base64 are its own; what carries it is xhr.js.

const xhr = require('./xhr');
const echo = require('./echo');

class Calls {
  static encodings = ['identity'];
  static cannot = {
    client_stream: 'browsers send one message',
    bidi: 'browsers send one message',
    cancel: 'it is a bidi call',
    unknown_encoding: 'the client does not compress',
  };

  constructor({ target, httpVersion }) {
    const Connection =
      httpVersion === '1.1' ? xhr.Http1Connection : xhr.Http2Connection;
    this.connection = new Connection(target);
    globalThis.XMLHttpRequest = xhr.over(this.connection);
    // It looks for XMLHttpRequest when it is loaded.
    this.web = require('grpc-web');
    this.base = `http://${target}`;
    this.client = new this.web.GrpcWebClientBase({
      format: 'text',
      maxReceiveMessageSize: 0, // no limit
    });
  }

  close() {
    this.connection.close();
  }

  descriptor(name) {
    const { MethodDescriptor, MethodType } = this.web;
    return new MethodDescriptor(
      echo.path(name),
      name === 'ServerStream' ? MethodType.SERVER_STREAMING : MethodType.UNARY,
      Object,
      Object,
      echo.pack,
      echo.unpack
    );
  }

  async call(name, input, { timeoutMs, onResponse }) {
    const { value } = await input[Symbol.asyncIterator]().next();
    const metadata = timeoutMs
      ? { deadline: String(Date.now() + timeoutMs) }
      : {};
    return new Promise((resolve) => {
      const stream = this.client.serverStreaming(
        this.base + echo.path(name),
        value,
        metadata,
        this.descriptor(name)
      );
      let status = { code: 0, message: '' };
      stream.on('data', onResponse);
      stream.on('status', ({ code, details }) => {
        status = { code, message: details };
      });
      stream.on('error', ({ code, message }) => resolve({ code, message }));
      stream.on('end', () => resolve(status));
    });
  }
}

module.exports = { Calls };
