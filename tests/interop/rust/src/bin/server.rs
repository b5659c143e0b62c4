// SPDX-License-Identifier: MIT

//! The echo service of examples/echo.proto on tonic.
//!
//! tonic settles the codec of a response before a handler sees the request:
//! it is the first in the client's grpc-accept-encoding that the server may
//! send. So `response_encoding` cannot be heard here; a client that wants one
//! codec offers that one first.
//!
//! `server --web` answers gRPC-Web as well, over HTTP/1.1 too.

use grpctap_interop::echo::echo_server::{Echo, EchoServer};
use grpctap_interop::echo::{EchoRequest, EchoResponse};
use grpctap_interop::{CODECS, MAX_MESSAGE};
use std::time::Duration;
use tokio::signal::unix::{signal, SignalKind};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::{Server, TcpIncoming};
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_web::GrpcWebLayer;

struct Service;

type Responses = ReceiverStream<Result<EchoResponse, Status>>;

/// Does what a request asks for besides the echo.
async fn prepare(request: &EchoRequest) -> Result<(), Status> {
    if request.delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(request.delay_ms.into())).await;
    }
    match request.status_code {
        0 => Ok(()),
        code => Err(Status::new(
            Code::from(code as i32),
            request.status_message.clone(),
        )),
    }
}

fn response(payload: Vec<u8>) -> EchoResponse {
    EchoResponse { payload, total: 0 }
}

#[tonic::async_trait]
impl Echo for Service {
    type ServerStreamStream = Responses;
    type BidiStreamStream = Responses;

    async fn unary(&self, request: Request<EchoRequest>) -> Result<Response<EchoResponse>, Status> {
        let request = request.into_inner();
        prepare(&request).await?;
        Ok(Response::new(response(request.payload)))
    }

    async fn client_stream(
        &self,
        request: Request<Streaming<EchoRequest>>,
    ) -> Result<Response<EchoResponse>, Status> {
        let mut requests = request.into_inner();
        let mut last = response(Vec::new());
        while let Some(request) = requests.message().await? {
            prepare(&request).await?;
            last.total += request.payload.len() as u64;
            last.payload = request.payload;
        }
        Ok(Response::new(last))
    }

    async fn server_stream(
        &self,
        request: Request<EchoRequest>,
    ) -> Result<Response<Responses>, Status> {
        let request = request.into_inner();
        prepare(&request).await?;
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            for _ in 0..request.count {
                let next = response(request.payload.clone());
                if sender.send(Ok(next)).await.is_err() {
                    return; // the client is gone
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn bidi_stream(
        &self,
        request: Request<Streaming<EchoRequest>>,
    ) -> Result<Response<Responses>, Status> {
        let mut requests = request.into_inner();
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                let next = match requests.message().await {
                    Ok(None) => return,
                    Ok(Some(request)) => {
                        prepare(&request).await.map(|()| response(request.payload))
                    }
                    Err(status) => Err(status),
                };
                let last = next.is_err();
                if sender.send(next).await.is_err() || last {
                    return;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }
}

async fn serve(
    service: EchoServer<Service>,
    incoming: TcpIncoming,
    is_web: bool,
) -> Result<(), tonic::transport::Error> {
    if !is_web {
        let server = Server::builder().add_service(service);
        return server.serve_with_incoming(incoming).await;
    }
    let mut server = Server::builder()
        .accept_http1(true)
        .layer(GrpcWebLayer::new());
    server
        .add_service(service)
        .serve_with_incoming(incoming)
        .await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let incoming = TcpIncoming::bind("127.0.0.1:0".parse()?)?.with_nodelay(Some(true));
    let mut service = EchoServer::new(Service)
        .max_decoding_message_size(MAX_MESSAGE)
        .max_encoding_message_size(MAX_MESSAGE);
    for (_, codec) in CODECS {
        service = service.accept_compressed(codec).send_compressed(codec);
    }
    let is_web = std::env::args().any(|argument| argument == "--web");
    let mut term = signal(SignalKind::terminate())?;
    println!("listening {}", incoming.local_addr()?.port());
    tokio::select! {
        done = serve(service, incoming, is_web) => done?,
        // At once: a handler may be in its delay.
        _ = term.recv() => (),
    }
    Ok(())
}
