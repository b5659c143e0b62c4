# SPDX-License-Identifier: MIT
# What was offered, chosen and used, per direction; a row per combination.
# Usage: jq -rsf negotiation.jq EVENTS
["method", "client_offers", "request", "response", "request_used", "response_used", "calls"],
( map(select(.event == "call" and .rpc == "grpc"))
  | group_by([.path, .request.grpc_accept_encoding, .request.grpc_encoding,
              .response.grpc_encoding, .request.compression, .response.compression])[]
  | [ (.[0].path | split("/")[-1]),
      (.[0].request.grpc_accept_encoding // "-"),
      (.[0].request.grpc_encoding // "-"),
      (.[0].response.grpc_encoding // "-"),
      .[0].request.compression,
      .[0].response.compression,
      length ]
) | @tsv
