// SPDX-License-Identifier: MIT
package grpctap.echo;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetSocketAddress;

/** The echo server on grpc-java; what a request asks for is in examples/echo.proto. */
final class EchoServer {
  private static final Metadata.Key<String> GRPC_ENCODING =
      Metadata.Key.of("grpc-encoding", Metadata.ASCII_STRING_MARSHALLER);

  private EchoServer() {}

  /** Ends a call with the status that its request asks for. */
  private static final class Asked extends Exception {
    private static final long serialVersionUID = 1;
    private final transient Status status;

    Asked(Status status) {
      super(null, null, false, false);
      this.status = status;
    }
  }

  /** One handler's way to its responses. */
  private static final class Answer {
    private final ServerCallStreamObserver<byte[]> out;
    private boolean started;
    private boolean ended;

    Answer(StreamObserver<byte[]> out) {
      this.out = (ServerCallStreamObserver<byte[]>) out;
      // With a handler in place, answers to a cancelled call are dropped
      // quietly; without one they throw.
      this.out.setOnCancelHandler(() -> {});
    }

    /** Does what the request asks for before an answer: delay, status, codec. */
    void prepare(EchoRequest request) throws Asked {
      if (request.delayMs() > 0) {
        sleep(request.delayMs());
      }
      if (request.statusCode() != 0) {
        throw new Asked(
            Status.fromCodeValue(request.statusCode()).withDescription(request.statusMessage()));
      }
      // The codec is fixed once the response headers are out.
      if (!started && Codecs.NAMES.contains(request.responseEncoding())) {
        out.setCompression(request.responseEncoding());
      }
    }

    void send(EchoResponse response) throws IOException {
      started = true;
      out.onNext(response.toBytes());
    }

    void complete() {
      if (!ended) {
        ended = true;
        out.onCompleted();
      }
    }

    /** Ends the call, for good: later requests find it ended. */
    void fail(Exception e) {
      if (!ended) {
        ended = true;
        Status status = e instanceof Asked asked ? asked.status : Status.fromThrowable(e);
        out.onError(status.asRuntimeException());
      }
    }
  }

  /** Waits, but not longer than the client does. */
  private static void sleep(int delayMs) {
    Thread self = Thread.currentThread();
    Context.CancellationListener wake = context -> self.interrupt();
    Context context = Context.current();
    context.addListener(wake, Runnable::run);
    try {
      Thread.sleep(delayMs);
    } catch (InterruptedException e) {
      // The call is over; what is sent on it now goes nowhere.
    } finally {
      context.removeListener(wake);
      Thread.interrupted();
    }
  }

  private static void unary(byte[] bytes, StreamObserver<byte[]> out) {
    Answer answer = new Answer(out);
    try {
      EchoRequest request = EchoRequest.parse(bytes);
      answer.prepare(request);
      answer.send(new EchoResponse(request.payload(), 0));
      answer.complete();
    } catch (Asked | IOException e) {
      answer.fail(e);
    }
  }

  private static void serverStream(byte[] bytes, StreamObserver<byte[]> out) {
    Answer answer = new Answer(out);
    try {
      EchoRequest request = EchoRequest.parse(bytes);
      answer.prepare(request);
      EchoResponse response = new EchoResponse(request.payload(), 0);
      // No faster than the client reads.
      answer.out.setOnReadyHandler(new Runnable() {
        private int left = request.count();

        @Override
        public void run() {
          try {
            while (left > 0 && answer.out.isReady()) {
              left--;
              answer.send(response);
            }
            if (left == 0) {
              answer.complete();
            }
          } catch (IOException e) {
            answer.fail(e);
          }
        }
      });
    } catch (Asked | IOException e) {
      answer.fail(e);
    }
  }

  private static StreamObserver<byte[]> clientStream(StreamObserver<byte[]> out) {
    Answer answer = new Answer(out);
    return new Requests(answer) {
      private byte[] last = new byte[0];
      private long total;

      @Override
      void take(EchoRequest request) {
        last = request.payload();
        total += last.length;
      }

      @Override
      void end() throws IOException {
        answer.send(new EchoResponse(last, total));
        answer.complete();
      }
    };
  }

  private static StreamObserver<byte[]> bidiStream(StreamObserver<byte[]> out) {
    Answer answer = new Answer(out);
    return new Requests(answer) {
      @Override
      void take(EchoRequest request) throws IOException {
        answer.send(new EchoResponse(request.payload(), 0));
      }

      @Override
      void end() {
        answer.complete();
      }
    };
  }

  /** The requests of one call. */
  private abstract static class Requests implements StreamObserver<byte[]> {
    private final Answer answer;

    Requests(Answer answer) {
      this.answer = answer;
    }

    abstract void take(EchoRequest request) throws IOException;

    abstract void end() throws IOException;

    @Override
    public void onNext(byte[] bytes) {
      if (answer.ended) {
        return;
      }
      try {
        EchoRequest request = EchoRequest.parse(bytes);
        answer.prepare(request);
        take(request);
      } catch (Asked | IOException e) {
        answer.fail(e);
      }
    }

    @Override
    public void onError(Throwable t) {
      // The client has gone.
    }

    @Override
    public void onCompleted() {
      if (answer.ended) {
        return;
      }
      try {
        end();
      } catch (IOException e) {
        answer.fail(e);
      }
    }
  }

  /** Answers in the codec of the request; `response_encoding` may change it after. */
  private static final class SameCodec implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      String encoding = headers.get(GRPC_ENCODING);
      if (encoding != null && Codecs.NAMES.contains(encoding)) {
        call.setCompression(encoding);
      }
      return next.startCall(call, headers);
    }
  }

  private static ServerServiceDefinition service() {
    return ServerServiceDefinition.builder(EchoMethods.SERVICE)
        .addMethod(EchoMethods.UNARY, ServerCalls.asyncUnaryCall(EchoServer::unary))
        .addMethod(
            EchoMethods.CLIENT_STREAM,
            ServerCalls.asyncClientStreamingCall(EchoServer::clientStream))
        .addMethod(
            EchoMethods.SERVER_STREAM,
            ServerCalls.asyncServerStreamingCall(EchoServer::serverStream))
        .addMethod(
            EchoMethods.BIDI_STREAM, ServerCalls.asyncBidiStreamingCall(EchoServer::bidiStream))
        .build();
  }

  static Server start() throws IOException {
    return NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
        .compressorRegistry(Codecs.compressors(false))
        .decompressorRegistry(Codecs.decompressors())
        .maxInboundMessageSize(EchoMethods.MAX_MESSAGE_SIZE)
        .intercept(new SameCodec())
        .addService(service())
        .build()
        .start();
  }

  public static void main(String[] args) throws Exception {
    Server server = start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      server.shutdownNow();
      // A JVM that a signal ended would exit with the signal's number.
      Runtime.getRuntime().halt(0);
    }));
    System.out.println("listening " + server.getPort());
    server.awaitTermination();
  }
}
