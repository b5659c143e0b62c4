// SPDX-License-Identifier: MIT
'use strict';

// As much of XMLHttpRequest as the gRPC-Web client for browsers needs, over
// HTTP/2 with prior knowledge, or HTTP/1.1: one connection for all requests.

const http = require('node:http');
const http2 = require('node:http2');

const { HTTP2_HEADER_METHOD, HTTP2_HEADER_PATH, NGHTTP2_CANCEL } =
  http2.constants;

const OPENED = 1;
const HEADERS_RECEIVED = 2;
const LOADING = 3;
const DONE = 4;

// What the requests share: send() begins one and returns a way to cancel it;
// `on` has head(status, headers), text(text), end() and error().
class Http2Connection {
  constructor(target) {
    this.session = http2.connect(`http://${target}`);
    this.session.on('error', () => {}); // its streams tell
  }

  send(method, path, headers, body, on) {
    const stream = this.session.request({
      ...headers,
      [HTTP2_HEADER_METHOD]: method,
      [HTTP2_HEADER_PATH]: path,
    });
    stream.setEncoding('latin1');
    stream.on('response', (fields) => on.head(fields[':status'], fields));
    stream.on('data', on.text);
    stream.on('end', on.end);
    stream.on('error', on.error);
    stream.end(body);
    return () => stream.close(NGHTTP2_CANCEL);
  }

  close() {
    this.session.close();
  }
}

class Http1Connection {
  constructor(target) {
    const { hostname, port } = new URL(`http://${target}`);
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    this.options = { hostname, port, agent: this.agent };
  }

  send(method, path, headers, body, on) {
    const request = http.request({ ...this.options, method, path, headers });
    request.on('response', (response) => {
      on.head(response.statusCode, response.headers);
      response.setEncoding('latin1');
      response.on('data', on.text);
      response.on('end', on.end);
      response.on('error', on.error);
    });
    request.on('error', on.error);
    request.end(body);
    return () => request.destroy();
  }

  close() {
    this.agent.destroy();
  }
}

// Returns an XMLHttpRequest whose requests all go over `connection`.
function over(connection) {
  return class XMLHttpRequest {
    constructor() {
      this.readyState = 0;
      this.status = 0;
      this.statusText = '';
      this.responseText = '';
      this.responseType = '';
      this.onreadystatechange = null;
      this.fields = {};
      this.headers = {};
    }

    open(method, url) {
      this.method = method;
      this.path = new URL(url).pathname;
      this.become(OPENED);
    }

    setRequestHeader(name, value) {
      this.headers[name.toLowerCase()] = String(value);
    }

    send(body) {
      const finish = () => this.readyState < DONE && this.become(DONE);
      this.cancel = connection.send(
        this.method,
        this.path,
        this.headers,
        body,
        {
          head: (status, fields) => {
            this.status = status;
            this.fields = fields;
            this.become(HEADERS_RECEIVED);
          },
          text: (text) => {
            this.responseText += text;
            this.become(LOADING);
          },
          end: finish,
          error: finish,
        }
      );
    }

    abort() {
      if (this.cancel && this.readyState < DONE) {
        this.cancel();
      }
    }

    getResponseHeader(name) {
      return this.fields[name.toLowerCase()] ?? null;
    }

    getAllResponseHeaders() {
      return Object.entries(this.fields)
        .filter(([name]) => !name.startsWith(':'))
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('');
    }

    become(state) {
      this.readyState = state;
      this.onreadystatechange?.();
    }
  };
}

module.exports = { Http1Connection, Http2Connection, over };
