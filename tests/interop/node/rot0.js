// SPDX-License-Identifier: MIT
'use strict';

// Makes grpc-js send an encoding that no server knows: `grpctap-rot0`, the
// message unchanged under a set flag.
//
// grpc-js has no registry of codecs, so this reaches into its compression
// filter, which package.json pins: a channel set to gzip gets its codec
// replaced and its header renamed, and grpc-js still frames and flags the
// message itself.

const {
  CompressionFilterFactory,
} = require('@grpc/grpc-js/build/src/compression-filter');

const NAME = 'grpctap-rot0';

function install() {
  const { createFilter } = CompressionFilterFactory.prototype;
  CompressionFilterFactory.prototype.createFilter = function () {
    const filter = createFilter.call(this);
    if (filter.currentCompressionAlgorithm !== 'gzip') {
      throw new Error('rot0 is for a channel with gzip compression');
    }
    filter.currentCompressionAlgorithm = NAME;
    filter.sendCompression.compressMessage = async (message) => message;
    return filter;
  };
}

module.exports = { NAME, install };
