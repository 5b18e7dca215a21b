//! The addresses that the server answers.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Query, Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{Semaphore, watch};

use super::guard::Guard;
use crate::page;
use crate::source::{Error, Extent, Source};

/// Answers that are being made at a time, at most: each may take some megabytes.
const ANSWERS: usize = 8;

#[derive(Clone)]
struct Shared {
    sources: Arc<Vec<Source>>,
    extents: watch::Receiver<Vec<Extent>>,
    answers: Arc<Semaphore>,
}

/// All routes.
pub fn router(
    sources: Arc<Vec<Source>>,
    extents: watch::Receiver<Vec<Extent>>,
    guard: Guard,
) -> Router {
    let answers = Arc::new(Semaphore::new(ANSWERS));
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
        .with_state(Shared { sources, extents, answers })
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
    async fn answer<T: Send + 'static>(
        &self,
        make: impl FnOnce(&[Source]) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Response> {
        let room = Arc::clone(&self.answers).acquire_owned().await;
        let sources = Arc::clone(&self.sources);
        let made = tokio::task::spawn_blocking(move || {
            let made = make(&sources);
            drop(room);
            made
        });
        match made.await {
            Ok(made) => made.map_err(|error| failed(&error)),
            Err(_) => Err(refuse(StatusCode::INTERNAL_SERVER_ERROR, "the run file is damaged")),
        }
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
    shared.answer(infos).await.map(axum::Json).into_response()
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
    let answer = shared.answer(move |sources| match what.as_str() {
        "times" => sources[run].times(usize::try_from(from).unwrap_or(usize::MAX)),
        "series" => sources[run].series(from),
        _ => sources[run].summary(),
    });
    let bytes = answer.await;
    bytes.map(|bytes| ([(header::CONTENT_TYPE, kind)], bytes)).into_response()
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
    let answer = shared.answer(move |sources| {
        let source = &sources[run];
        match what.as_str() {
            "model" => source.model(number).map(|(_, bytes)| bytes.to_vec()),
            "frame" => source.frame(number as usize),
            "contacts" => source.contacts(number as usize),
            _ => source.history(number),
        }
    });
    let bytes = answer.await;
    let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
    bytes.map(|bytes| (kind, bytes)).into_response()
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
