// SPDX-License-Identifier: MIT
'use strict';

// The echo client of gRPC-Web: one scenario, one connection, a JSON line a
// call. With --text it is the client for browsers, and else connect-node; which
// version of HTTP carries it is --http, 2 or 1.1.

const { once } = require('node:events');
const { parseArgs } = require('node:util');
const echo = require('./echo');

const IN_FLIGHT = 64;
const LARGE = 20 * 1024 * 1024;
const DEADLINE_MS = 150;
const DELAY_MS = 2000;
const STATUS_CODE = 9;
const STATUS_MESSAGE = 'größer als 100 %: 値';
const UNKNOWN = 'grpctap-rot0';
const TEXT =
  '{"name":"grpctap","kind":"echo","values":[1,2,3,5,8],"ok":true},';

// A response is missing or is not the echo of its request. A call that ends
// with a status other than OK is no failure here.
class Failure extends Error {}

class UsageError extends Error {}

// `size` bytes that shrink under every codec; 8 digits tell them apart.
function payload(size, index) {
  const head = String(index).padStart(8, '0');
  const body = TEXT.repeat(Math.floor(size / TEXT.length) + 1);
  return new Uint8Array(Buffer.from((head + body).slice(0, size)));
}

function expectEcho(request, response) {
  if (Buffer.compare(request.payload, response.payload) !== 0) {
    throw new Failure('a response does not echo the payload');
  }
}

// The requests of a call. In lock step, each but the first waits for the
// response to the one before; until `signal` there is no end to them.
async function* inputOf(requests, line, { isLockStep, signal }) {
  for (const request of requests) {
    if (isLockStep) {
      await line.answered(line.request_sizes.length);
    }
    yield line.sent(request);
  }
  if (signal && !signal.aborted) {
    await once(signal, 'abort');
  }
}

// What one call sent and received: the line that is printed at its end.
class Line {
  constructor(name, encoding) {
    this.method = echo.path(name);
    this.encoding = encoding;
    this.request_sizes = [];
    this.response_sizes = [];
    this.responses = [];
    this.waiting = null;
  }

  sent(request) {
    this.request_sizes.push(echo.pack(request).length);
    return request;
  }

  received(response) {
    this.response_sizes.push(echo.packResponse(response).length);
    this.responses.push(response);
    this.waiting?.();
  }

  // Resolves once there are `count` responses.
  async answered(count) {
    while (this.responses.length < count) {
      await new Promise((resolve) => {
        this.waiting = resolve;
      });
    }
  }

  print({ code, message }) {
    const { method, encoding, request_sizes, response_sizes } = this;
    const line = {
      method,
      status: code,
      message,
      encoding,
      request_sizes,
      response_sizes,
    };
    process.stdout.write(JSON.stringify(line) + '\n');
  }
}

// The scenarios; the methods at the end are named as in the README.
class Client {
  constructor(calls, args) {
    this.calls = calls;
    this.size = args.size;
    this.count = args.count;
    this.encoding = args.encoding;
  }

  request(index, fields) {
    return echo.request({ payload: payload(this.size, index), ...fields });
  }

  requests(count) {
    return Array.from({ length: count }, (_, index) => this.request(index));
  }

  // Makes a call and prints its line. With OK there are `want` responses,
  // each the echo of its request, or of the last one.
  async call(name, requests, want, options = {}) {
    const line = new Line(name, this.encoding);
    const input = inputOf(requests, line, options);
    const status = await this.calls.call(name, input, {
      ...options,
      onResponse: (response) => {
        line.received(response);
        options.onResponse?.();
      },
    });
    line.print(status);
    line.responses.forEach((response, index) => {
      const at = want === requests.length ? index : requests.length - 1;
      expectEcho(requests[at], response);
    });
    if (status.code === 0 && line.responses.length !== want) {
      throw new Failure(`${line.responses.length} responses, not ${want}`);
    }
    return line.responses;
  }

  async unary() {
    for (const request of this.requests(this.count)) {
      await this.call('Unary', [request], 1);
    }
  }

  async client_stream() {
    const requests = this.requests(this.count);
    const [response] = await this.call('ClientStream', requests, 1);
    const total = requests.reduce((sum, one) => sum + one.payload.length, 0);
    if (response && Number(response.total) !== total) {
      throw new Failure(`total is ${response.total}, sent were ${total}`);
    }
  }

  async server_stream() {
    const request = this.request(0, { count: this.count });
    await this.call('ServerStream', [request], this.count);
  }

  async bidi() {
    const requests = this.requests(this.count);
    await this.call('BidiStream', requests, this.count, { isLockStep: true });
  }

  async status() {
    const request = this.request(0, {
      statusCode: STATUS_CODE,
      statusMessage: STATUS_MESSAGE,
    });
    await this.call('Unary', [request], 1);
  }

  async trailers_only() {
    await this.call('NoSuchMethod', [this.request(0)], 1);
  }

  async deadline() {
    const request = this.request(0, { delayMs: DELAY_MS });
    await this.call('Unary', [request], 1, { timeoutMs: DEADLINE_MS });
  }

  async cancel() {
    const controller = new AbortController();
    await this.call('BidiStream', [this.request(0)], 1, {
      signal: controller.signal,
      onResponse: () => controller.abort(),
    });
  }

  async unknown_encoding() {
    await this.call('Unary', [this.request(0)], 1);
  }

  async large() {
    await this.call('Unary', [this.request(0)], 1);
  }

  async many() {
    let next = 0;
    const worker = async () => {
      while (next < this.count) {
        await this.call('Unary', [this.request(next++)], 1);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  }
}

const SCENARIOS = [
  'unary',
  'client_stream',
  'server_stream',
  'bidi',
  'status',
  'trailers_only',
  'deadline',
  'cancel',
  'unknown_encoding',
  'large',
  'many',
];

function number(text, least, name) {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least) {
    throw new UsageError(`--${name} is a number of at least ${least}`);
  }
  return value;
}

function check(args, Calls) {
  if (!args.target || !SCENARIOS.includes(args.scenario)) {
    throw new UsageError(
      'client [--text] [--http 2|1.1] TARGET SCENARIO [--encoding NAME]' +
        ' [--size N] [--count N]'
    );
  }
  if (args.scenario in Calls.cannot) {
    throw new UsageError(Calls.cannot[args.scenario]);
  }
  if (!Calls.encodings.includes(args.encoding)) {
    throw new UsageError(`no encoding ${args.encoding}`);
  }
  if (!['2', '1.1'].includes(args.httpVersion)) {
    throw new UsageError('--http is 2 or 1.1');
  }
}

function parse() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      list: { type: 'boolean' },
      text: { type: 'boolean' },
      http: { type: 'string', default: '2' },
      encoding: { type: 'string', default: 'identity' },
      size: { type: 'string' },
      count: { type: 'string' },
    },
  });
  const [target, scenario] = positionals;
  const size = values.size ?? (scenario === 'large' ? LARGE : 1000);
  const count = values.count ?? (scenario === 'many' ? 1000 : 1);
  return {
    isList: values.list,
    isText: values.text,
    target,
    scenario,
    httpVersion: values.http,
    encoding: values.encoding,
    size: number(size, 0, 'size'),
    count: number(count, 1, 'count'),
  };
}

async function main() {
  const args = parse();
  const { Calls } = require(args.isText ? './text' : './connect');
  if (args.isList) {
    console.log(Calls.encodings.join('\n'));
    for (const [name, why] of Object.entries(Calls.cannot)) {
      console.log(`cannot ${name} ${why}`);
    }
    return;
  }
  check(args, Calls);
  const isUnknown = args.scenario === 'unknown_encoding';
  const calls = new Calls({ ...args, isUnknown });
  if (isUnknown) {
    args.encoding = UNKNOWN;
  }
  try {
    await new Client(calls, args)[args.scenario]();
  } finally {
    calls.close();
  }
}

main().catch((error) => {
  if (error instanceof UsageError || error.code?.startsWith?.('ERR_PARSE')) {
    console.error(`usage: ${error.message}`);
    process.exitCode = 2;
  } else if (error instanceof Failure) {
    console.error(`client: ${error.message}`);
    process.exitCode = 1;
  } else {
    throw error;
  }
});
