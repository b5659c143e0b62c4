// SPDX-License-Identifier: MIT
'use strict';

// The echo client on grpc-js: one scenario, one connection, a JSON line a call.
//
// Calls are made without serializers, so that a message is bytes here and its
// length is the serialized length to report.

const { parseArgs } = require('node:util');
const grpc = require('@grpc/grpc-js');
const { service, options, algorithms } = require('./echo');
const rot0 = require('./rot0');

const IN_FLIGHT = 64;
const LARGE = 20 * 1024 * 1024;
const CONNECT_MS = 30000;
const DEADLINE_MS = 150;
const DELAY_MS = 2000;
const STATUS_CODE = 9;
const STATUS_MESSAGE = 'größer als 100 %: 値';
const TEXT =
  '{"name":"grpctap","kind":"echo","values":[1,2,3,5,8],"ok":true},';

// A response is missing or is not the echo of its request. A call that ends
// with a status other than OK is no failure here: the status is in its line,
// and the reader knows which one the scenario asks for.
class Failure extends Error {}

const raw = (bytes) => bytes;
const pack = service.Unary.requestSerialize;
const unpack = service.Unary.responseDeserialize;

// `size` bytes that shrink under every codec; 8 digits tell them apart.
function payload(size, index) {
  const head = String(index).padStart(8, '0');
  const body = TEXT.repeat(Math.floor(size / TEXT.length) + 1);
  return Buffer.from((head + body).slice(0, size));
}

// What one call sent and received, and how it ended.
class Call {
  constructor(method, encoding) {
    this.method = `/grpctap.echo.v1.Echo/${method}`;
    this.encoding = encoding;
    this.requestSizes = [];
    this.responseSizes = [];
    this.status = null;
  }

  pack(request) {
    const bytes = pack(request);
    this.requestSizes.push(bytes.length);
    return bytes;
  }

  unpack(bytes) {
    this.responseSizes.push(bytes.length);
    return unpack(bytes);
  }

  expectEcho(request, response) {
    if (!request.payload.equals(response.payload)) {
      throw new Failure(
        `${this.method}: the response does not echo the payload`
      );
    }
  }

  print() {
    const line = {
      method: this.method,
      status: this.status.code,
      message: this.status.details,
      encoding: this.encoding,
      request_sizes: this.requestSizes,
      response_sizes: this.responseSizes,
    };
    process.stdout.write(JSON.stringify(line) + '\n');
  }
}

// The scenarios; the methods at the end are named as in the README.
class Client {
  constructor(stub, encoding, size, count) {
    this.stub = stub;
    this.encoding = encoding;
    this.size = size;
    this.count = count;
  }

  call(method) {
    return new Call(method, this.encoding);
  }

  // The codec is asked for, since not every server answers with the request's
  // own.
  request(index, fields) {
    const request = { payload: payload(this.size, index), ...fields };
    if (this.encoding in algorithms && this.encoding !== 'identity') {
      request.response_encoding = this.encoding;
    }
    return request;
  }

  // Awaits the end of a call that was begun with `begin(done)`, prints its
  // line and returns its one response, or null.
  async finish(call, begin) {
    const bytes = await new Promise((resolve) => {
      let value = null;
      const rpc = begin((error, response) => {
        value = error ? null : response;
      });
      rpc.on('status', (status) => {
        call.status = status;
        resolve(value);
      });
    });
    const response = bytes === null ? null : call.unpack(bytes);
    call.print();
    return response;
  }

  async unaryCall(method, request, callOptions = {}) {
    const call = this.call(method);
    const bytes = call.pack(request);
    const response = await this.finish(call, (done) =>
      this.stub.makeUnaryRequest(
        call.method,
        raw,
        raw,
        bytes,
        new grpc.Metadata(),
        callOptions,
        done
      )
    );
    if (response !== null) {
      call.expectEcho(request, response);
    }
  }

  // Opens a call whose responses are a stream. A status other than OK also
  // comes as an error event, which must have a listener.
  streamCall(call, rpc) {
    rpc.on('error', () => {});
    call.ended = new Promise((resolve) => {
      rpc.on('status', (status) => {
        call.status = status;
        resolve();
      });
    });
    return rpc;
  }

  // Sends `count` requests, each after the response to the one before; fewer
  // when the server ends the call.
  async lockStep(call, rpc, count) {
    for (let index = 0; index < count; index++) {
      const request = this.request(index);
      const answer = Promise.race([
        new Promise((resolve) => rpc.once('data', resolve)),
        call.ended.then(() => null),
      ]);
      rpc.write(call.pack(request));
      const bytes = await answer;
      if (bytes === null) {
        return;
      }
      call.expectEcho(request, call.unpack(bytes));
    }
  }

  // A bidi call of `count` requests in lock step, which `finish` then ends.
  async bidiCall(count, finish) {
    const call = this.call('BidiStream');
    const rpc = this.streamCall(
      call,
      this.stub.makeBidiStreamRequest(call.method, raw, raw)
    );
    try {
      await this.lockStep(call, rpc, count);
    } catch (error) {
      // An open call would keep the process alive.
      rpc.cancel();
      throw error;
    }
    let extra = 0;
    rpc.on('data', () => extra++);
    finish(rpc);
    await call.ended;
    call.print();
    if (extra > 0) {
      throw new Failure('BidiStream: a response too many');
    }
    if (call.status.code === 0 && call.responseSizes.length !== count) {
      throw new Failure('BidiStream: the server ended the call early');
    }
  }

  async unary() {
    for (let index = 0; index < this.count; index++) {
      await this.unaryCall('Unary', this.request(index));
    }
  }

  async client_stream() {
    const call = this.call('ClientStream');
    const requests = [];
    for (let index = 0; index < this.count; index++) {
      requests.push(this.request(index));
    }
    const response = await this.finish(call, (done) => {
      const rpc = this.stub.makeClientStreamRequest(
        call.method,
        raw,
        raw,
        done
      );
      for (const request of requests) {
        rpc.write(call.pack(request));
      }
      rpc.end();
      return rpc;
    });
    if (response === null) {
      return;
    }
    call.expectEcho(requests.at(-1), response);
    const total = requests.reduce((sum, one) => sum + one.payload.length, 0);
    if (response.total !== total) {
      throw new Failure(`total is ${response.total}, sent were ${total}`);
    }
  }

  async server_stream() {
    const call = this.call('ServerStream');
    const request = this.request(0, { count: this.count });
    const rpc = this.streamCall(
      call,
      this.stub.makeServerStreamRequest(
        call.method,
        raw,
        raw,
        call.pack(request)
      )
    );
    const responses = [];
    rpc.on('data', (bytes) => responses.push(call.unpack(bytes)));
    await call.ended;
    call.print();
    for (const response of responses) {
      call.expectEcho(request, response);
    }
    if (call.status.code === 0 && responses.length !== this.count) {
      throw new Failure(`${responses.length} responses of ${this.count}`);
    }
  }

  async bidi() {
    await this.bidiCall(this.count, (rpc) => rpc.end());
  }

  async status() {
    const request = this.request(0, {
      status_code: STATUS_CODE,
      status_message: STATUS_MESSAGE,
    });
    await this.unaryCall('Unary', request);
  }

  async trailers_only() {
    await this.unaryCall('NoSuchMethod', this.request(0));
  }

  async deadline() {
    const request = this.request(0, { delay_ms: DELAY_MS });
    await this.unaryCall('Unary', request, {
      deadline: Date.now() + DEADLINE_MS,
    });
  }

  async cancel() {
    await this.bidiCall(1, (rpc) => rpc.cancel());
    // grpc-js tells of the cancellation at once, but resets the stream some
    // ticks later; closing the channel in between would end it in order.
    await new Promise((resolve) => setTimeout(resolve, 100));
  }

  async unknown_encoding() {
    await this.unaryCall('Unary', this.request(0));
  }

  async large() {
    await this.unaryCall('Unary', this.request(0));
  }

  async many() {
    let next = 0;
    const worker = async () => {
      while (next < this.count) {
        await this.unaryCall('Unary', this.request(next++));
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

class UsageError extends Error {}

function number(text, least, name) {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least) {
    throw new UsageError(`--${name} is a number of at least ${least}`);
  }
  return value;
}

function parse() {
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        list: { type: 'boolean' },
        encoding: { type: 'string', default: 'identity' },
        size: { type: 'string' },
        count: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError(error.message);
  }
  const { values, positionals } = parsed;
  const [target, scenario] = positionals;
  if (values.list) {
    return { list: true };
  }
  if (positionals.length !== 2 || !SCENARIOS.includes(scenario)) {
    throw new UsageError(
      'client TARGET SCENARIO [--encoding NAME] [--size N] [--count N]'
    );
  }
  if (!(values.encoding in algorithms)) {
    throw new UsageError(`no encoding ${values.encoding}`);
  }
  const size = values.size ?? (scenario === 'large' ? LARGE : 1000);
  const count = values.count ?? (scenario === 'many' ? 1000 : 1);
  return {
    target,
    scenario,
    encoding: values.encoding,
    size: number(size, 0, 'size'),
    count: number(count, 1, 'count'),
  };
}

function connect(args) {
  let { encoding } = args;
  let algorithm = algorithms[encoding];
  if (args.scenario === 'unknown_encoding') {
    rot0.install();
    encoding = rot0.NAME;
    algorithm = algorithms.gzip;
  }
  const stub = new grpc.Client(args.target, grpc.credentials.createInsecure(), {
    ...options,
    'grpc.default_compression_algorithm': algorithm,
    'grpc.use_local_subchannel_pool': 1,
  });
  // A deadline is meant for the call, not for the set-up.
  return new Promise((resolve, reject) => {
    stub.waitForReady(Date.now() + CONNECT_MS, (error) => {
      if (error) {
        reject(new Failure(`no connection to ${args.target}`));
      } else {
        resolve(new Client(stub, encoding, args.size, args.count));
      }
    });
  });
}

async function main() {
  const args = parse();
  if (args.list) {
    console.log(Object.keys(algorithms).join('\n'));
    return;
  }
  const client = await connect(args);
  try {
    await client[args.scenario]();
  } finally {
    client.stub.close();
  }
}

main().catch((error) => {
  if (error instanceof UsageError) {
    console.error(`usage: ${error.message}`);
    process.exitCode = 2;
  } else if (error instanceof Failure) {
    console.error(`client: ${error.message}`);
    process.exitCode = 1;
  } else {
    throw error;
  }
});
