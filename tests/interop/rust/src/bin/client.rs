// SPDX-License-Identifier: MIT

//! Runs one scenario of ../../README.md on one connection and prints what it
//! sent and received, a JSON line a call.

use grpctap_interop::echo::{EchoRequest, EchoResponse};
use grpctap_interop::{CODECS, MAX_MESSAGE};
use http::{HeaderValue, Uri};
use http_body_util::BodyExt;
use prost::Message;
use std::cell::Cell;
use std::error::Error;
use std::future::Future;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, LocalSet};
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codec::CompressionEncoding;
use tonic::transport::channel::ResponseFuture;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;
use tower_service::Service;

type Failure = Box<dyn Error>;
type Codec = ProstCodec<EchoRequest, EchoResponse>;

const STATUS_MESSAGE: &str = "größer als 100 %: 値";
const UNKNOWN: &str = "grpctap-rot0";
const TEXT: &[u8] = br#"{"id":1234,"name":"grpctap","tags":["a","b"],"ok":true},"#;
const IN_FLIGHT: usize = 64;

/// A channel that can pass requests off as compressed with UNKNOWN. tonic's
/// codecs are a closed list, so this is done below it, to the HTTP request.
#[derive(Clone)]
struct Wire {
    channel: Channel,
    disguise: bool,
}

impl Service<http::Request<Body>> for Wire {
    type Response = http::Response<Body>;
    type Error = tonic::transport::Error;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.channel.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        if self.disguise {
            self.channel.call(disguise(request))
        } else {
            self.channel.call(request)
        }
    }
}

/// Declares UNKNOWN and sets the flag of the request's one message.
fn disguise(mut request: http::Request<Body>) -> http::Request<Body> {
    request
        .headers_mut()
        .insert("grpc-encoding", HeaderValue::from_static(UNKNOWN));
    let mut first = true;
    request.map(|body| {
        Body::new(body.map_frame(move |frame| {
            frame.map_data(|data| {
                let mut data = Vec::from(data);
                if first && !data.is_empty() {
                    data[0] = 1;
                    first = false;
                }
                data.into()
            })
        }))
    })
}

/// Keeps the handles of what the transport spawns, so that the end can wait
/// until the connection's last frames are written.
#[derive(Clone, Default)]
struct Tasks(Arc<Mutex<Vec<JoinHandle<()>>>>);

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Tasks {
    fn execute(&self, future: F) {
        self.0.lock().unwrap().push(tokio::spawn(future));
    }
}

impl Tasks {
    async fn finish(self) {
        loop {
            let task = self.0.lock().unwrap().pop();
            match task {
                Some(task) => drop(task.await),
                None => return,
            }
        }
    }
}

struct Call {
    method: &'static str,
    encoding: String,
    request_sizes: Vec<usize>,
    response_sizes: Vec<usize>,
}

impl Call {
    fn sent(&mut self, request: &EchoRequest) {
        self.request_sizes.push(request.encoded_len());
    }

    fn received(&mut self, payload: &[u8], response: &EchoResponse) -> Result<(), Failure> {
        self.response_sizes.push(response.encoded_len());
        if response.payload == payload {
            return Ok(());
        }
        Err(format!("{}: the response does not echo the payload", self.method).into())
    }

    fn print(&self, status: &Status) {
        println!(
            r#"{{"method":{},"status":{},"message":{},"encoding":{},"request_sizes":{:?},"response_sizes":{:?}}}"#,
            json_string(self.method),
            status.code() as i32,
            json_string(status.message()),
            json_string(&self.encoding),
            self.request_sizes,
            self.response_sizes
        );
    }
}

fn json_string(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn ok() -> Status {
    Status::new(Code::Ok, "")
}

#[derive(Clone)]
struct Client {
    grpc: Grpc<Wire>,
    encoding: String,
    size: usize,
    count: usize,
    sequence: Rc<Cell<u64>>,
}

impl Client {
    fn request(&self) -> EchoRequest {
        self.sequence.set(self.sequence.get() + 1);
        let mut payload: Vec<u8> = TEXT.iter().copied().cycle().take(self.size).collect();
        let number = format!("{:08}", self.sequence.get() % 100_000_000);
        for (to, from) in payload.iter_mut().zip(number.bytes()) {
            *to = from;
        }
        let compressed = CODECS.iter().any(|(name, _)| *name == self.encoding);
        EchoRequest {
            payload,
            response_encoding: if compressed {
                self.encoding.clone()
            } else {
                String::new()
            },
            ..Default::default()
        }
    }

    fn begin(&self, method: &'static str) -> Call {
        Call {
            method,
            encoding: self.encoding.clone(),
            request_sizes: Vec::new(),
            response_sizes: Vec::new(),
        }
    }

    async fn unary(&mut self, method: &'static str, message: EchoRequest) -> Result<(), Failure> {
        self.unary_within(method, message, None).await
    }

    async fn unary_within(
        &mut self,
        method: &'static str,
        message: EchoRequest,
        deadline: Option<Duration>,
    ) -> Result<(), Failure> {
        let mut call = self.begin(method);
        let payload = message.payload.clone();
        call.sent(&message);
        let mut request = Request::new(message);
        if let Some(deadline) = deadline {
            request.set_timeout(deadline);
        }
        self.grpc.ready().await?;
        let path = method.parse()?;
        let status = match self.grpc.unary(request, path, Codec::default()).await {
            Ok(response) => {
                call.received(&payload, response.get_ref())?;
                ok()
            }
            Err(status) => status,
        };
        call.print(&status);
        Ok(())
    }

    async fn client_stream(&mut self) -> Result<(), Failure> {
        let mut call = self.begin("/grpctap.echo.v1.Echo/ClientStream");
        let messages: Vec<_> = (0..self.count).map(|_| self.request()).collect();
        messages.iter().for_each(|message| call.sent(message));
        let total: usize = messages.iter().map(|m| m.payload.len()).sum();
        let last = messages.last().map_or(Vec::new(), |m| m.payload.clone());
        let request = Request::new(tokio_stream::iter(messages));
        self.grpc.ready().await?;
        let path = call.method.parse()?;
        let status = match self
            .grpc
            .client_streaming(request, path, Codec::default())
            .await
        {
            Ok(response) => {
                call.received(&last, response.get_ref())?;
                if response.get_ref().total != total as u64 {
                    return Err("the total is wrong".into());
                }
                ok()
            }
            Err(status) => status,
        };
        call.print(&status);
        Ok(())
    }

    async fn server_stream(&mut self) -> Result<(), Failure> {
        let mut call = self.begin("/grpctap.echo.v1.Echo/ServerStream");
        let mut message = self.request();
        message.count = self.count as u32;
        let payload = message.payload.clone();
        call.sent(&message);
        self.grpc.ready().await?;
        let path = call.method.parse()?;
        let answer = self
            .grpc
            .server_streaming(Request::new(message), path, Codec::default())
            .await;
        let status = match answer {
            Ok(response) => {
                let mut responses = response.into_inner();
                loop {
                    match responses.message().await {
                        Ok(Some(response)) => call.received(&payload, &response)?,
                        Ok(None) => break ok(),
                        Err(status) => break status,
                    }
                }
            }
            Err(status) => status,
        };
        call.print(&status);
        Ok(())
    }

    /// Sends `count` requests, each after the response to the one before; then
    /// half-closes, or cancels the call where that is the scenario.
    async fn bidi(&mut self, count: usize, cancelled: bool) -> Result<(), Failure> {
        let mut call = self.begin("/grpctap.echo.v1.Echo/BidiStream");
        let (sender, receiver) = mpsc::channel(1);
        // tonic gives the response's headers and messages apart, and a server
        // may send the headers with the first message only: so the first
        // request is queued before the call is made.
        let mut message = self.request();
        call.sent(&message);
        let mut payload = message.payload.clone();
        sender.send(message).await?;
        self.grpc.ready().await?;
        let path = call.method.parse()?;
        let request = Request::new(ReceiverStream::new(receiver));
        let answer = self.grpc.streaming(request, path, Codec::default()).await;
        let mut responses = match answer {
            Ok(response) => response.into_inner(),
            Err(status) => {
                call.print(&status);
                return Ok(());
            }
        };
        let mut left = count;
        let status = loop {
            match responses.message().await {
                Ok(Some(response)) => call.received(&payload, &response)?,
                Ok(None) => break Status::new(Code::Internal, "the responses ended early"),
                Err(status) => break status,
            }
            left -= 1;
            if left == 0 {
                break ok();
            }
            message = self.request();
            payload = message.payload.clone();
            call.sent(&message);
            sender.send(message).await?;
        };
        if cancelled {
            // Dropping the responses is how tonic cancels a call.
            drop(responses);
            drop(sender);
            call.print(&Status::cancelled("dropped by the client"));
            return Ok(());
        }
        drop(sender);
        let status = match responses.message().await {
            Ok(None) => status,
            Ok(Some(_)) => return Err("a response too many".into()),
            Err(status) => status,
        };
        call.print(&status);
        Ok(())
    }

    async fn many(&mut self) -> Result<(), Failure> {
        let left = Rc::new(Cell::new(self.count));
        let tasks: Vec<_> = (0..IN_FLIGHT)
            .map(|_| {
                let (mut client, left) = (self.clone(), left.clone());
                tokio::task::spawn_local(async move {
                    while left.get() > 0 {
                        left.set(left.get() - 1);
                        let message = client.request();
                        let done = client.unary("/grpctap.echo.v1.Echo/Unary", message).await;
                        done.map_err(|e| e.to_string())?;
                    }
                    Ok::<(), String>(())
                })
            })
            .collect();
        for task in tasks {
            task.await??;
        }
        Ok(())
    }

    async fn run(mut self, scenario: &str) -> Result<(), Failure> {
        const UNARY: &str = "/grpctap.echo.v1.Echo/Unary";
        let mut message = self.request();
        match scenario {
            "unary" => {
                for _ in 0..self.count {
                    let message = self.request();
                    self.unary(UNARY, message).await?;
                }
                Ok(())
            }
            "client_stream" => self.client_stream().await,
            "server_stream" => self.server_stream().await,
            "bidi" => self.bidi(self.count, false).await,
            "status" => {
                message.status_code = 9;
                message.status_message = STATUS_MESSAGE.into();
                self.unary(UNARY, message).await
            }
            "trailers_only" => {
                self.unary("/grpctap.echo.v1.Echo/NoSuchMethod", message)
                    .await
            }
            "deadline" => {
                message.delay_ms = 2000;
                let deadline = Some(Duration::from_millis(150));
                self.unary_within(UNARY, message, deadline).await
            }
            "cancel" => self.bidi(1, true).await,
            "unknown_encoding" | "large" => self.unary(UNARY, message).await,
            "many" => self.many().await,
            _ => Err(format!("no scenario {scenario:?}").into()),
        }
    }
}

struct Options {
    target: String,
    scenario: String,
    encoding: String,
    size: usize,
    count: usize,
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, Failure> {
    let usage = "usage: client TARGET SCENARIO [--encoding NAME] [--size N] [--count N]";
    let target = args.next().ok_or(usage)?;
    let scenario = args.next().ok_or(usage)?;
    let mut options = Options {
        encoding: if scenario == "unknown_encoding" {
            UNKNOWN
        } else {
            "identity"
        }
        .into(),
        size: if scenario == "large" { 20 << 20 } else { 1000 },
        count: if scenario == "many" { 1000 } else { 1 },
        target,
        scenario,
    };
    while let Some(name) = args.next() {
        let value = args.next().ok_or(usage)?;
        match name.as_str() {
            "--encoding" => options.encoding = value,
            "--size" => options.size = value.parse()?,
            "--count" => options.count = value.parse()?,
            _ => return Err(usage.into()),
        }
    }
    Ok(options)
}

fn codec(name: &str) -> Result<Option<CompressionEncoding>, Failure> {
    if name == "identity" || name == UNKNOWN {
        return Ok(None);
    }
    match CODECS.iter().find(|(known, _)| *known == name) {
        Some((_, codec)) => Ok(Some(*codec)),
        None => Err(format!("tonic cannot send {name}").into()),
    }
}

async fn run(options: Options) -> Result<(), Failure> {
    let tasks = Tasks::default();
    let uri: Uri = format!("http://{}", options.target).parse()?;
    let channel = Endpoint::from(uri)
        .executor(tasks.clone())
        .connect()
        .await?;
    let wire = Wire {
        channel,
        disguise: options.encoding == UNKNOWN,
    };
    let mut grpc = Grpc::new(wire)
        .max_decoding_message_size(MAX_MESSAGE)
        .max_encoding_message_size(MAX_MESSAGE);
    if let Some(codec) = codec(&options.encoding)? {
        grpc = grpc.send_compressed(codec).accept_compressed(codec);
    }
    let client = Client {
        grpc,
        encoding: options.encoding,
        size: options.size,
        count: options.count,
        sequence: Rc::new(Cell::new(0)),
    };
    LocalSet::new()
        .run_until(client.run(&options.scenario))
        .await?;
    tasks.finish().await;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args().skip(1).peekable();
    if args.peek().is_some_and(|arg| arg == "--list") {
        println!("identity");
        CODECS.iter().for_each(|(name, _)| println!("{name}"));
        return;
    }
    let done = match parse(args) {
        Ok(options) => run(options).await,
        Err(error) => Err(error),
    };
    if let Err(error) = done {
        eprintln!("client: {error}");
        std::process::exit(1);
    }
}
