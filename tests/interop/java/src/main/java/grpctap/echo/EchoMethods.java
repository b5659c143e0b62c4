// SPDX-License-Identifier: MIT
package grpctap.echo;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * The methods of the service, for messages that are bytes already: so that the client sees the
 * serialized lengths that it has to report.
 */
final class EchoMethods {
  static final String SERVICE = "grpctap.echo.v1.Echo";
  static final int MAX_MESSAGE_SIZE = 64 * 1024 * 1024;

  static final MethodDescriptor<byte[], byte[]> UNARY = method("Unary", MethodType.UNARY);
  static final MethodDescriptor<byte[], byte[]> CLIENT_STREAM =
      method("ClientStream", MethodType.CLIENT_STREAMING);
  static final MethodDescriptor<byte[], byte[]> SERVER_STREAM =
      method("ServerStream", MethodType.SERVER_STREAMING);
  static final MethodDescriptor<byte[], byte[]> BIDI_STREAM =
      method("BidiStream", MethodType.BIDI_STREAMING);

  /** A method that no server has. */
  static final MethodDescriptor<byte[], byte[]> NO_SUCH_METHOD =
      method("NoSuchMethod", MethodType.UNARY);

  private EchoMethods() {}

  private static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
    return MethodDescriptor.<byte[], byte[]>newBuilder()
        .setType(type)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
        .setRequestMarshaller(new Bytes())
        .setResponseMarshaller(new Bytes())
        .build();
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw Status.INTERNAL.withDescription("unreadable message").withCause(e)
            .asRuntimeException();
      }
    }
  }
}
