// SPDX-License-Identifier: MIT
package grpctap.echo;

import io.grpc.CallOptions;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** The echo client on grpc-java: one scenario, one connection, a JSON line a call. */
final class EchoClient {
  private static final int IN_FLIGHT = 64;
  private static final int CONNECT_S = 30;
  private static final int DEADLINE_MS = 150;
  private static final int DELAY_MS = 2000;
  private static final int STATUS_CODE = 9;
  private static final String STATUS_MESSAGE = "größer als 100 %: 値";
  private static final byte[] TEXT =
      "{\"name\":\"grpctap\",\"kind\":\"echo\",\"values\":[1,2,3,5,8],\"ok\":true},"
          .getBytes(StandardCharsets.US_ASCII);

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private final ManagedChannel channel;
  private final ClientArguments arguments;

  private EchoClient(ManagedChannel channel, ClientArguments arguments) {
    this.channel = channel;
    this.arguments = arguments;
  }

  /**
   * A response is missing or is not the echo of its request. A call that ends with a status other
   * than OK is no failure here: the status is in its line, and the reader knows which one the
   * scenario asks for.
   */
  private static final class Failure extends Exception {
    private static final long serialVersionUID = 1;

    Failure(String message) {
      super(message);
    }
  }

  /** `size` bytes that shrink under every codec; 8 digits tell them apart. */
  private static byte[] payload(int size, int index) {
    byte[] head = String.format("%08d", index).getBytes(StandardCharsets.US_ASCII);
    byte[] payload = new byte[size];
    for (int i = 0; i < size; i++) {
      payload[i] = i < head.length ? head[i] : TEXT[(i - head.length) % TEXT.length];
    }
    return payload;
  }

  private EchoRequest request(int index) {
    // The codec is asked for, since not every server answers with the
    // request's own.
    String encoding = arguments.encoding();
    boolean ask = Codecs.NAMES.contains(encoding) && !encoding.equals("identity");
    return new EchoRequest(
        payload(arguments.size(), index), 0, 0, "", 0, ask ? encoding : "");
  }

  private CallOptions options() {
    CallOptions options =
        CallOptions.DEFAULT.withMaxInboundMessageSize(EchoMethods.MAX_MESSAGE_SIZE);
    String encoding = arguments.encoding();
    return encoding.equals("identity") ? options : options.withCompression(encoding);
  }

  /** One call: what it sent and received, and how it ended. */
  private final class Call implements StreamObserver<byte[]> {
    private final MethodDescriptor<byte[], byte[]> method;
    private final List<Integer> requestSizes = new ArrayList<>();
    private final List<Integer> responseSizes = new ArrayList<>();
    private final List<EchoResponse> responses = new ArrayList<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private Runnable atEnd = () -> {};
    private Status status;
    private IOException unreadable;

    Call(MethodDescriptor<byte[], byte[]> method) {
      this.method = method;
    }

    byte[] pack(EchoRequest request) throws IOException {
      byte[] bytes = request.toBytes();
      requestSizes.add(bytes.length);
      return bytes;
    }

    @Override
    public synchronized void onNext(byte[] bytes) {
      responseSizes.add(bytes.length);
      try {
        responses.add(EchoResponse.parse(bytes));
      } catch (IOException e) {
        unreadable = e;
      }
      notifyAll();
    }

    @Override
    public void onError(Throwable t) {
      end(Status.fromThrowable(t));
    }

    @Override
    public void onCompleted() {
      end(Status.OK);
    }

    private synchronized void end(Status how) {
      status = how;
      ended.countDown();
      atEnd.run();
      notifyAll();
    }

    /** Waits for response number `index`; false when the call ends without it. */
    synchronized boolean await(int index) throws InterruptedException {
      while (responses.size() <= index && status == null) {
        wait();
      }
      return responses.size() > index;
    }

    /** Waits for the end, and prints the call's line. */
    void finish() throws InterruptedException, IOException {
      ended.await();
      if (unreadable != null) {
        throw unreadable;
      }
      String description = status.getDescription();
      out.println(
          "{\"method\":\"/" + method.getFullMethodName()
              + "\",\"status\":" + status.getCode().value()
              + ",\"message\":" + quote(description == null ? "" : description)
              + ",\"encoding\":" + quote(arguments.encoding())
              + ",\"request_sizes\":" + array(requestSizes)
              + ",\"response_sizes\":" + array(responseSizes) + "}");
    }

    void expectEcho(EchoRequest request, EchoResponse response) throws Failure {
      if (!Arrays.equals(request.payload(), response.payload())) {
        throw new Failure(
            method.getFullMethodName() + ": the response does not echo the payload");
      }
    }

    void expectResponses(int count) throws Failure {
      if (status.isOk() && responses.size() != count) {
        throw new Failure(
            method.getFullMethodName() + ": " + responses.size() + " responses of " + count);
      }
    }
  }

  private static String array(List<Integer> sizes) {
    return sizes.toString().replace(" ", "");
  }

  private static String quote(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ') {
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }

  private Call start(
      MethodDescriptor<byte[], byte[]> method,
      EchoRequest request,
      CallOptions options,
      Runnable atEnd)
      throws IOException {
    Call call = new Call(method);
    call.atEnd = atEnd;
    ClientCalls.asyncUnaryCall(channel.newCall(method, options), call.pack(request), call);
    return call;
  }

  private void finish(Call call, EchoRequest request) throws Exception {
    call.finish();
    for (EchoResponse response : call.responses) {
      call.expectEcho(request, response);
    }
    call.expectResponses(1);
  }

  private void unaryCall(
      MethodDescriptor<byte[], byte[]> method, EchoRequest request, CallOptions options)
      throws Exception {
    finish(start(method, request, options, () -> {}), request);
  }

  private void unary() throws Exception {
    for (int i = 0; i < arguments.count(); i++) {
      unaryCall(EchoMethods.UNARY, request(i), options());
    }
  }

  private void clientStream() throws Exception {
    Call call = new Call(EchoMethods.CLIENT_STREAM);
    StreamObserver<byte[]> requests =
        ClientCalls.asyncClientStreamingCall(channel.newCall(call.method, options()), call);
    EchoRequest last = null;
    long total = 0;
    for (int i = 0; i < arguments.count(); i++) {
      last = request(i);
      total += last.payload().length;
      requests.onNext(call.pack(last));
    }
    requests.onCompleted();
    finish(call, last);
    for (EchoResponse response : call.responses) {
      if (response.total() != total) {
        throw new Failure("total is " + response.total() + ", sent were " + total);
      }
    }
  }

  private void serverStream() throws Exception {
    Call call = new Call(EchoMethods.SERVER_STREAM);
    EchoRequest request = request(0).withCount(arguments.count());
    ClientCalls.asyncServerStreamingCall(
        channel.newCall(call.method, options()), call.pack(request), call);
    call.finish();
    for (EchoResponse response : call.responses) {
      call.expectEcho(request, response);
    }
    call.expectResponses(arguments.count());
  }

  /** Sends `count` requests in lock step, and then half-closes or cancels. */
  private void bidi(int count, boolean cancel) throws Exception {
    Call call = new Call(EchoMethods.BIDI_STREAM);
    ClientCallStreamObserver<byte[]> requests =
        (ClientCallStreamObserver<byte[]>)
            ClientCalls.asyncBidiStreamingCall(channel.newCall(call.method, options()), call);
    for (int i = 0; i < count; i++) {
      EchoRequest request = request(i);
      requests.onNext(call.pack(request));
      if (!call.await(i)) {
        break;
      }
      call.expectEcho(request, call.responses.get(i));
    }
    if (cancel) {
      requests.cancel("cancelled by the client", null);
    } else {
      requests.onCompleted();
    }
    call.finish();
    call.expectResponses(count);
  }

  private void deadline() throws Exception {
    unaryCall(EchoMethods.UNARY, delayed(), expiring());
  }

  private EchoRequest delayed() {
    return request(0).withDelayMs(DELAY_MS);
  }

  private CallOptions expiring() {
    return options().withDeadlineAfter(DEADLINE_MS, TimeUnit.MILLISECONDS);
  }

  /**
   * Runs calls like the one of `deadline` against a server of this process's own. In a new JVM on
   * a busy machine the first call spends its deadline on loading classes, and little of it or
   * nothing is left when the request is on the wire.
   */
  private static void warmUp(ClientArguments arguments) throws Exception {
    Server server = EchoServer.start();
    String target = "127.0.0.1:" + server.getPort();
    ManagedChannel channel = open(target, arguments);
    try {
      connect(channel, target);
      EchoClient client = new EchoClient(channel, arguments);
      byte[] quick = client.request(0).toBytes();
      byte[] slow = client.delayed().toBytes();
      ClientCalls.blockingUnaryCall(channel, EchoMethods.UNARY, client.options(), quick);
      ClientCalls.blockingUnaryCall(channel, EchoMethods.UNARY, client.expiring(), slow);
    } catch (StatusRuntimeException e) {
      // The deadline, as it should.
    } finally {
      channel.shutdownNow().awaitTermination(CONNECT_S, TimeUnit.SECONDS);
      server.shutdownNow().awaitTermination(CONNECT_S, TimeUnit.SECONDS);
    }
  }

  private static ManagedChannel open(String target, ClientArguments arguments) {
    boolean unknown = arguments.encoding().equals(Codecs.ROT0);
    return NettyChannelBuilder.forTarget(target)
        .usePlaintext()
        .proxyDetector(address -> null)
        .compressorRegistry(Codecs.compressors(unknown))
        .decompressorRegistry(Codecs.decompressors())
        .build();
  }

  private void many() throws Exception {
    Semaphore slots = new Semaphore(IN_FLIGHT);
    List<Call> calls = new ArrayList<>();
    for (int i = 0; i < arguments.count(); i++) {
      slots.acquire();
      calls.add(start(EchoMethods.UNARY, request(i), options(), slots::release));
    }
    for (int i = 0; i < calls.size(); i++) {
      finish(calls.get(i), request(i));
    }
  }

  private void run() throws Exception {
    switch (arguments.scenario()) {
      case "unary" -> unary();
      case "client_stream" -> clientStream();
      case "server_stream" -> serverStream();
      case "bidi" -> bidi(arguments.count(), false);
      case "status" ->
          unaryCall(
              EchoMethods.UNARY, request(0).withStatus(STATUS_CODE, STATUS_MESSAGE), options());
      case "trailers_only" -> unaryCall(EchoMethods.NO_SUCH_METHOD, request(0), options());
      case "deadline" -> deadline();
      case "cancel" -> bidi(1, true);
      case "unknown_encoding", "large" -> unaryCall(EchoMethods.UNARY, request(0), options());
      case "many" -> many();
      default -> throw new AssertionError(arguments.scenario());
    }
  }

  /** Connects before the first call: a deadline is meant for the call, not for the set-up. */
  private static void connect(ManagedChannel channel, String target) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(CONNECT_S);
    ConnectivityState state = channel.getState(true);
    while (state != ConnectivityState.READY) {
      CountDownLatch changed = new CountDownLatch(1);
      channel.notifyWhenStateChanged(state, changed::countDown);
      long left = end - System.nanoTime();
      if (state == ConnectivityState.TRANSIENT_FAILURE
          || !changed.await(left, TimeUnit.NANOSECONDS)) {
        throw new Failure("no connection to " + target);
      }
      state = channel.getState(true);
    }
  }

  public static void main(String[] args) throws Exception {
    ClientArguments arguments = ClientArguments.parse(args);
    if (arguments == null) {
      System.err.println(ClientArguments.USAGE);
      System.exit(2);
    }
    if (arguments.list()) {
      Codecs.NAMES.forEach(System.out::println);
      return;
    }
    if (arguments.scenario().equals("deadline")) {
      warmUp(arguments);
    }
    ManagedChannel channel = open(arguments.target(), arguments);
    int exit = 0;
    try {
      connect(channel, arguments.target());
      new EchoClient(channel, arguments).run();
    } catch (Failure e) {
      System.err.println("client: " + e.getMessage());
      exit = 1;
      // A call that is still open would hold up the shutdown.
      channel.shutdownNow();
    }
    channel.shutdown().awaitTermination(CONNECT_S, TimeUnit.SECONDS);
    System.exit(exit);
  }
}
