# SPDX-License-Identifier: MIT
# Who broke the protocol, and with what?  Notices that are not mere facts.
# Usage: jq -rsf faults.jq EVENTS
["severity", "code", "from", "count", "first"],
( map(select(.event == "notice" and .severity != "info"))
  | group_by([.severity, .code, .from])[]
  | [ .[0].severity, .[0].code, (.[0].from // "-"), length,
      "conn \(.[0].conn) stream \(.[0].stream // "-"): \(.[0].detail)" ]
) | @tsv
