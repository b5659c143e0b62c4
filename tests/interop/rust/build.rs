// SPDX-License-Identifier: MIT

//! Generates the messages and the server trait from echo.proto. protox stands
//! in for protoc, so that nothing but cargo is needed.

use std::{env, path::Path};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let proto = env::var("ECHO_PROTO")?;
    println!("cargo:rerun-if-env-changed=ECHO_PROTO");
    println!("cargo:rerun-if-changed={proto}");
    let folder = Path::new(&proto).parent().ok_or("no folder")?;
    let files = protox::compile([&proto], [folder])?;
    tonic_prost_build::configure()
        .build_client(false)
        .compile_fds(files)?;
    Ok(())
}
