// SPDX-License-Identifier: MIT
'use strict';

// The methods and messages of examples/echo.proto, read at run time: protobufjs
// parses the file into the descriptors that @bufbuild/protobuf works from.

const path = require('node:path');
const protobufjs = require('protobufjs');
const descriptor = require('protobufjs/ext/descriptor');
const {
  create,
  createFileRegistry,
  fromBinary,
  toBinary,
} = require('@bufbuild/protobuf');
const { FileDescriptorSetSchema } = require('@bufbuild/protobuf/wkt');

const PROTO = path.join(__dirname, '../../../examples/echo.proto');
const SERVICE = 'grpctap.echo.v1.Echo';

const root = protobufjs.loadSync(PROTO);
root.resolveAll();
const bytes = descriptor.FileDescriptorSet.encode(
  root.toDescriptor('proto3')
).finish();
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
const service = registry.getService(SERVICE);
const Request = service.method.unary.input;
const Response = service.method.unary.output;

// The method `name`; one that the service does not have is like Unary.
function method(name) {
  const known = service.methods.find((one) => one.name === name);
  return known ?? { ...service.method.unary, name };
}

module.exports = {
  method,
  path: (name) => `/${SERVICE}/${name}`,
  request: (fields) => create(Request, fields),
  pack: (request) => toBinary(Request, request),
  unpack: (response) => fromBinary(Response, response),
  packResponse: (response) => toBinary(Response, response),
};
