// SPDX-License-Identifier: MIT
package grpctap.echo;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;

/** The message of this name in echo.proto, written out so that no protoc is needed. */
record EchoRequest(
    byte[] payload,
    int count,
    int statusCode,
    String statusMessage,
    int delayMs,
    String responseEncoding) {

  EchoRequest withCount(int value) {
    return new EchoRequest(payload, value, statusCode, statusMessage, delayMs, responseEncoding);
  }

  EchoRequest withStatus(int code, String message) {
    return new EchoRequest(payload, count, code, message, delayMs, responseEncoding);
  }

  EchoRequest withDelayMs(int value) {
    return new EchoRequest(payload, count, statusCode, statusMessage, value, responseEncoding);
  }

  byte[] toBytes() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(payload.length + 128);
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    if (payload.length > 0) {
      out.writeByteArray(1, payload);
    }
    if (count != 0) {
      out.writeUInt32(2, count);
    }
    if (statusCode != 0) {
      out.writeUInt32(3, statusCode);
    }
    if (!statusMessage.isEmpty()) {
      out.writeString(4, statusMessage);
    }
    if (delayMs != 0) {
      out.writeUInt32(5, delayMs);
    }
    if (!responseEncoding.isEmpty()) {
      out.writeString(6, responseEncoding);
    }
    out.flush();
    return bytes.toByteArray();
  }

  static EchoRequest parse(byte[] bytes) throws IOException {
    byte[] payload = new byte[0];
    int count = 0;
    int statusCode = 0;
    String statusMessage = "";
    int delayMs = 0;
    String responseEncoding = "";
    CodedInputStream in = CodedInputStream.newInstance(bytes);
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      // The field number with the wire type below it, as on the wire.
      switch (tag) {
        case 1 << 3 | 2 -> payload = in.readByteArray();
        case 2 << 3 -> count = in.readUInt32();
        case 3 << 3 -> statusCode = in.readUInt32();
        case 4 << 3 | 2 -> statusMessage = in.readStringRequireUtf8();
        case 5 << 3 -> delayMs = in.readUInt32();
        case 6 << 3 | 2 -> responseEncoding = in.readStringRequireUtf8();
        default -> in.skipField(tag);
      }
    }
    return new EchoRequest(payload, count, statusCode, statusMessage, delayMs, responseEncoding);
  }
}
