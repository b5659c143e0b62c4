// SPDX-License-Identifier: MIT
module grpctap/studies/http-compression

go 1.25.0

require github.com/andybalholm/brotli v1.3.0
