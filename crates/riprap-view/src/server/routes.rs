//! The addresses that the server answers.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::guard::Guard;
use crate::page;
use crate::source::{Error, Extent, PIECE, Source};

/// Answers that are being made at a time, at most: each may take some megabytes.
pub(super) const ANSWERS: usize = 8;
/// Memory of answers that are made and not yet sent, at most, or one larger answer [KiB].
const UNSENT: usize = 128 << 10;

#[derive(Clone)]
struct Shared {
    sources: Arc<Vec<Source>>,
    extents: watch::Receiver<Vec<Extent>>,
    answers: Arc<Semaphore>,
    /// One permit per KiB.
    unsent: Arc<Semaphore>,
}

/// Bytes of an answer. Their memory counts as unsent until the connection has taken them.
struct Unsent {
    bytes: Arc<Vec<u8>>,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Unsent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// All routes.
pub fn router(
    sources: Arc<Vec<Source>>,
    extents: watch::Receiver<Vec<Extent>>,
    guard: Guard,
) -> Router {
    let answers = Arc::new(Semaphore::new(ANSWERS));
    let unsent = Arc::new(Semaphore::new(UNSENT));
    Router::new()
        .route("/", get(async || Html(page::VIEWER)))
        .route("/api/runs", get(runs))
        .route("/api/events", get(events))
        .route("/api/{run}/{what}", get(of_run))
        .route("/api/{run}/{what}/{number}", get(of_frame))
        .fallback(async |uri: Uri| {
            refuse(StatusCode::NOT_FOUND, &format!("nothing at {}", uri.path()))
        })
        .layer(middleware::from_fn(move |request: Request, next: Next| {
            let guard = guard.clone();
            async move { guarded(&guard, request, next).await }
        }))
        .with_state(Shared { sources, extents, answers, unsent })
}

/// Refuses requests that the guard does not accept, and adds the headers of all answers.
async fn guarded(guard: &Guard, request: Request, next: Next) -> Response {
    let mut response = match guard.check(request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err((code, message)) => refuse(code, message),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The page runs only its own scripts and connects only to its own server.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:; media-src blob:; connect-src 'self' blob: data:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'";

fn refuse(code: StatusCode, message: &str) -> Response {
    (code, axum::Json(json!({ "error": message }))).into_response()
}

fn failed(error: &Error) -> Response {
    let code = match error {
        Error::Missing(_) => StatusCode::NOT_FOUND,
        Error::File(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    refuse(code, &error.to_string())
}

impl Shared {
    /// Makes an answer on a thread for blocking work.
    async fn make<T: Send + 'static>(
        &self,
        make: impl FnOnce(&[Source]) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Response> {
        let sources = Arc::clone(&self.sources);
        match tokio::task::spawn_blocking(move || make(&sources)).await {
            Ok(made) => made.map_err(|error| failed(&error)),
            Err(_) => Err(refuse(StatusCode::INTERNAL_SERVER_ERROR, "the run file is damaged")),
        }
    }

    /// Answers with JSON.
    async fn json(
        &self,
        make: impl FnOnce(&[Source]) -> Result<Value, Error> + Send + 'static,
    ) -> Response {
        let _making = self.answers.acquire().await;
        self.make(make).await.map(axum::Json).into_response()
    }

    /// Answers with bytes of a kind, once there is memory for them.
    async fn bytes(
        &self,
        kind: &'static str,
        make: impl FnOnce(&[Source]) -> Result<Arc<Vec<u8>>, Error> + Send + 'static,
    ) -> Response {
        let _making = self.answers.acquire().await;
        let bytes = match self.make(make).await {
            Ok(bytes) => bytes,
            Err(response) => return response,
        };
        let size = (bytes.len() >> 10).clamp(1, UNSENT) as u32;
        let Ok(room) = Arc::clone(&self.unsent).acquire_many_owned(size).await else {
            return refuse(StatusCode::SERVICE_UNAVAILABLE, "the viewer ends");
        };
        let body = Bytes::from_owner(Unsent { bytes, _room: room });
        ([(header::CONTENT_TYPE, kind)], body).into_response()
    }

    fn run(&self, run: &str) -> Option<usize> {
        run.parse().ok().filter(|number| *number < self.sources.len())
    }
}

async fn runs(State(shared): State<Shared>) -> Response {
    let infos = |sources: &[Source]| {
        let infos: Result<Vec<_>, _> = sources.iter().map(Source::info).collect();
        Ok(json!({ "format": 1, "runs": infos? }))
    };
    shared.json(infos).await
}

#[derive(Deserialize)]
struct From {
    #[serde(default)]
    from: u64,
}

async fn of_run(
    State(shared): State<Shared>,
    Path((run, what)): Path<(String, String)>,
    Query(From { from }): Query<From>,
) -> Response {
    let Some(run) = shared.run(&run) else {
        return refuse(StatusCode::NOT_FOUND, "there is no such run");
    };
    let kind = match what.as_str() {
        "times" => "application/octet-stream",
        "series" => "text/csv; charset=utf-8",
        "summary" => "application/json",
        _ => return refuse(StatusCode::NOT_FOUND, "there is no such part of a run"),
    };
    let answer = move |sources: &[Source]| {
        let source = &sources[run];
        let bytes = match what.as_str() {
            "times" => source.times(usize::try_from(from).unwrap_or(usize::MAX)),
            "series" => source.series(from, PIECE),
            _ => source.summary(),
        };
        bytes.map(Arc::new)
    };
    shared.bytes(kind, answer).await
}

async fn of_frame(
    State(shared): State<Shared>,
    Path((run, what, number)): Path<(String, String, String)>,
) -> Response {
    let (Some(run), Ok(number)) = (shared.run(&run), number.parse::<u32>()) else {
        return refuse(StatusCode::NOT_FOUND, "there is no such run or number");
    };
    if !["model", "frame", "contacts", "history"].contains(&what.as_str()) {
        return refuse(StatusCode::NOT_FOUND, "there is no such part of a run");
    }
    let answer = move |sources: &[Source]| {
        let source = &sources[run];
        match what.as_str() {
            "model" => source.model(number).map(|(_, bytes)| bytes),
            "frame" => source.frame(number as usize).map(Arc::new),
            "contacts" => source.contacts(number as usize).map(Arc::new),
            _ => source.history(number).map(Arc::new),
        }
    };
    shared.bytes("application/octet-stream", answer).await
}

/// A stream of the lengths of the runs, whenever they change.
async fn events(
    State(shared): State<Shared>,
) -> Sse<impl stream::Stream<Item = Result<Event, Infallible>>> {
    let start = (shared.extents, Vec::new(), Vec::<Event>::new());
    let stream = stream::unfold(start, async |(mut extents, mut known, mut pending)| {
        while pending.is_empty() {
            let now: Vec<Extent> = extents.borrow_and_update().clone();
            for (run, extent) in now.iter().enumerate() {
                if known.get(run) != Some(extent) {
                    let data = json!({
                        "run": run, "n_frames": extent.n_frames, "models": extent.models, "state": extent.state,
                        "generation": extent.generation,
                    });
                    pending.insert(0, Event::default().data(data.to_string()));
                }
            }
            known = now;
            if pending.is_empty() && extents.changed().await.is_err() {
                return None;
            }
        }
        let event = pending.pop()?;
        Some((Ok(event), (extents, known, pending)))
    });
    Sse::new(stream).keep_alive(KeepAlive::default())
}
