# SPDX-License-Identifier: MIT
# Plain HTTP: what clients accepted, which content coding they got, what it
# saved and how many bodies grew.  `header` is what the responses' heads cost.
# Usage: jq -rsf http_codings.jq EVENTS
["accepts", "coding", "responses", "grew", "body", "decoded", "saved%", "header"],
( map(select(.event == "call" and (.rpc == null or .rpc == "connect")
             and .response.body_bytes > 0))
  | group_by([.request.accept_encoding, .response.content_encoding])[]
  | map(.response) as $all
  | ($all | map(select(.decoded_bytes != null))) as $known
  | ($known | map(.body_bytes) | add) as $body
  | ($known | map(.decoded_bytes) | add) as $decoded
  | [ (.[0].request.accept_encoding // "-"),
      ($all[0].content_encoding // "-"),
      length,
      ($known | map(select(.body_bytes > .decoded_bytes)) | length),
      $body,
      $decoded,
      (if ($decoded // 0) > 0
       then (1000 * (1 - $body / $decoded) | round | . / 10) else null end),
      ($all | map(.header_block_bytes) | add) ]
) | @tsv
