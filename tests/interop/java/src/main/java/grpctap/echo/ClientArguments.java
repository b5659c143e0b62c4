// SPDX-License-Identifier: MIT
package grpctap.echo;

import java.util.ArrayList;
import java.util.List;

/** The client's command line. */
record ClientArguments(
    boolean list, String target, String scenario, String encoding, int size, int count) {
  static final String USAGE =
      "usage: client TARGET SCENARIO [--encoding NAME] [--size N] [--count N]";

  private static final int LARGE = 20 * 1024 * 1024;
  private static final List<String> SCENARIOS =
      List.of(
          "unary", "client_stream", "server_stream", "bidi", "status", "trailers_only",
          "deadline", "cancel", "unknown_encoding", "large", "many");

  /** Null when the arguments are none that the client takes. */
  static ClientArguments parse(String[] args) {
    if (args.length == 1 && args[0].equals("--list")) {
      return new ClientArguments(true, "", "", "identity", 0, 0);
    }
    List<String> positional = new ArrayList<>();
    String encoding = "identity";
    int size = -1;
    int count = -1;
    try {
      for (int i = 0; i < args.length; i++) {
        switch (args[i]) {
          case "--encoding" -> encoding = args[++i];
          case "--size" -> size = number(args[++i], 0);
          case "--count" -> count = number(args[++i], 1);
          default -> positional.add(args[i]);
        }
      }
    } catch (IndexOutOfBoundsException | NumberFormatException e) {
      return null;
    }
    if (positional.size() != 2
        || !SCENARIOS.contains(positional.get(1))
        || !Codecs.NAMES.contains(encoding)) {
      return null;
    }
    String scenario = positional.get(1);
    if (scenario.equals("unknown_encoding")) {
      encoding = Codecs.ROT0;
    }
    if (size < 0) {
      size = scenario.equals("large") ? LARGE : 1000;
    }
    if (count < 0) {
      count = scenario.equals("many") ? 1000 : 1;
    }
    return new ClientArguments(false, positional.get(0), scenario, encoding, size, count);
  }

  private static int number(String text, int least) {
    int value = Integer.parseInt(text);
    if (value < least) {
      throw new NumberFormatException(text);
    }
    return value;
  }
}
