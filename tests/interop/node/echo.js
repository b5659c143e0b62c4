// SPDX-License-Identifier: MIT
'use strict';

// What server and client share: the service read from echo.proto, and limits.

const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const PROTO = path.join(__dirname, '../../../examples/echo.proto');
const LIMIT = 64 * 1024 * 1024;

const definitions = protoLoader.loadSync(PROTO, {
  keepCase: true,
  longs: Number,
  defaults: true,
});

module.exports = {
  service: definitions['grpctap.echo.v1.Echo'],
  options: {
    'grpc.max_receive_message_length': LIMIT,
    'grpc.max_send_message_length': LIMIT,
    'grpc.enable_http_proxy': 0,
  },
  algorithms: {
    identity: grpc.compressionAlgorithms.identity,
    gzip: grpc.compressionAlgorithms.gzip,
    deflate: grpc.compressionAlgorithms.deflate,
  },
};
