// SPDX-License-Identifier: MIT
package grpctap.echo;

import io.grpc.Codec;
import io.grpc.CompressorRegistry;
import io.grpc.DecompressorRegistry;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

/** The codecs beside grpc-java's own gzip, and the registries that hold them. */
final class Codecs {
  /** What the client can send and the server can read and send. */
  static final List<String> NAMES = List.of("identity", "gzip", "deflate");

  /** The encoding that no server knows. */
  static final String ROT0 = "grpctap-rot0";

  private Codecs() {}

  /** The codecs that are sent; with {@link #ROT0} for the client's one scenario. */
  static CompressorRegistry compressors(boolean withRot0) {
    CompressorRegistry registry = CompressorRegistry.newEmptyInstance();
    registry.register(Codec.Identity.NONE);
    registry.register(new Codec.Gzip());
    registry.register(new Deflate());
    if (withRot0) {
      registry.register(new Rot0());
    }
    return registry;
  }

  /** The codecs that are read, all of them offered in grpc-accept-encoding. */
  static DecompressorRegistry decompressors() {
    return DecompressorRegistry.getDefaultInstance().with(new Deflate(), true);
  }

  /** The gRPC encoding of this name is the zlib format. */
  private static final class Deflate implements Codec {
    @Override
    public String getMessageEncoding() {
      return "deflate";
    }

    @Override
    public OutputStream compress(OutputStream out) {
      return new DeflaterOutputStream(out);
    }

    @Override
    public InputStream decompress(InputStream in) {
      return new InflaterInputStream(in);
    }
  }

  /** Passes the bytes unchanged; grpc-java sets the flag as for any codec. */
  private static final class Rot0 implements Codec {
    @Override
    public String getMessageEncoding() {
      return ROT0;
    }

    @Override
    public OutputStream compress(OutputStream out) {
      return out;
    }

    @Override
    public InputStream decompress(InputStream in) {
      return in;
    }
  }
}
