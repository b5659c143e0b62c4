// SPDX-License-Identifier: MIT
package grpctap.echo;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/** The message of this name in echo.proto, written out so that no protoc is needed. */
record EchoResponse(byte[] payload, long total) {

  byte[] toBytes() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(payload.length + 32);
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    if (payload.length > 0) {
      out.writeByteArray(1, payload);
    }
    if (total != 0) {
      out.writeUInt64(2, total);
    }
    out.flush();
    return bytes.toByteArray();
  }

  static EchoResponse parse(byte[] bytes) throws IOException {
    byte[] payload = new byte[0];
    long total = 0;
    CodedInputStream in = CodedInputStream.newInstance(bytes);
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      // The field number with the wire type below it, as on the wire.
      switch (tag) {
        case 1 << 3 | 2 -> payload = in.readByteArray();
        case 2 << 3 -> total = in.readUInt64();
        default -> in.skipField(tag);
      }
    }
    return new EchoResponse(payload, total);
  }
}
