// SPDX-License-Identifier: MIT

//! What server and client share: the generated code and the codecs.

use tonic::codec::CompressionEncoding;

#[allow(clippy::all)]
pub mod echo {
    tonic::include_proto!("grpctap.echo.v1");
}

pub const MAX_MESSAGE: usize = 64 << 20;

/// The codecs that tonic brings, in the order in which they are offered.
pub const CODECS: [(&str, CompressionEncoding); 3] = [
    ("gzip", CompressionEncoding::Gzip),
    ("deflate", CompressionEncoding::Deflate),
    ("zstd", CompressionEncoding::Zstd),
];
