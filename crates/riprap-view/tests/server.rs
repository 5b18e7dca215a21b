//! The server over real connections: what it answers, and what it refuses.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use riprap_io::run::{Options, Run};
use riprap_io::run_folder::Existing;
use riprap_io::scene_file::SceneFile;
use riprap_view::page::Page;
use riprap_view::server::Server;
use riprap_view::source::Source;
use serde_json::Value;

/// A ball and a cube fall on a plane. The title would end a script.
const SCENE: &str = r#"
title = "a ball & </script><b>"

[run]
dt = "1 ms"
until = "0.1 s"
output_every = "10 ms"

[materials.rock]
density = 2700
friction = 0.5

[[body]]
name = "floor"
kind = "fixed"
material = "rock"
shape = { type = "half-space" }

[[body]]
name = "ball"
material = "rock"
shape = { type = "sphere", radius = 0.1 }
position = [0, 0, 0.15]

[[body]]
name = "cube"
material = "rock"
shape = { type = "box", size = [0.1, 0.1, 0.1] }
position = [1, 0, 0.06]
"#;

/// The folder of a finished run.
fn finished(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("riprap-view-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let file = SceneFile::parse(SCENE, Path::new(".")).unwrap();
    Run::new(&file, Options::new(&folder)).unwrap().execute(&mut ()).unwrap();
    folder
}

/// A server on a thread, stopped at the end.
struct Served {
    port: u16,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    folder: PathBuf,
}

impl Served {
    fn new(folder: PathBuf) -> Served {
        let source = Source::open(&folder).unwrap();
        let server = Server::bind(vec![source], "127.0.0.1", Some(0)).unwrap();
        assert!(!server.is_open());
        let port = server.url().trim_end_matches('/').rsplit_once(':').unwrap().1.parse().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = Some(std::thread::spawn(move || server.run(&stopped).unwrap()));
        Served { port, stop, thread, folder }
    }

    /// Sends bytes and reads the answer until the server closes the connection.
    fn raw(&self, request: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// Asks for a path with further headers; the status and the body.
    fn ask(&self, path: &str, headers: &str) -> (u16, Vec<u8>) {
        let host = format!("127.0.0.1:{}", self.port);
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n");
        let answer = self.raw(request.as_bytes());
        let head = answer.windows(4).position(|w| w == b"\r\n\r\n").expect("a head");
        let text = String::from_utf8_lossy(&answer[..head]);
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer[head + 4..].to_vec())
    }

    fn get(&self, path: &str) -> (u16, Vec<u8>) {
        self.ask(path, "")
    }

    fn json(&self, path: &str) -> Value {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}");
        serde_json::from_slice(&body).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The header of a binary answer.
fn header(bytes: &[u8]) -> Value {
    assert_eq!(&bytes[..4], b"RRB1");
    let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    serde_json::from_slice(&bytes[8..8 + length]).unwrap()
}

#[test]
fn runs_frames_contacts_histories_and_series_are_served() {
    let server = Served::new(finished("served"));
    let run = &server.json("/api/runs")["runs"][0];
    assert_eq!((run["n_frames"].as_u64(), run["state"].as_str()), (Some(11), Some("finished")));
    // Half-spaces are not part of the box.
    assert!((run["bounds"][1][2].as_f64().unwrap() - 0.25).abs() < 1e-6, "{run}");
    assert!((run["bounds"][1][0].as_f64().unwrap() - 1.05).abs() < 1e-6, "{run}");
    let model = header(&server.get("/api/0/model/0").1);
    assert_eq!(model["names"], serde_json::json!(["floor", "ball", "cube"]));
    assert_eq!(model["arrays"]["id"]["shape"], serde_json::json!([3]));
    // A cube: six faces in two triangles each, twelve edges; the sphere has no mesh.
    assert_eq!(model["arrays"]["edge"]["shape"][0], 12 + 4);
    assert_eq!(model["arrays"]["triangle"]["shape"][0], 12 + 2);
    let frame = header(&server.get("/api/0/frame/10").1);
    assert!((frame["time"].as_f64().unwrap() - 0.1).abs() < 1e-12);
    assert_eq!(frame["arrays"]["position"]["shape"], serde_json::json!([3, 3]));
    let contacts = header(&server.get("/api/0/contacts/10").1);
    assert!(contacts["arrays"]["force"]["shape"][0].as_u64().unwrap() >= 4);
    let history = header(&server.get("/api/0/history/2").1);
    assert_eq!(history["arrays"]["position"]["shape"], serde_json::json!([11, 3]));
    let times = header(&server.get("/api/0/times?from=8").1);
    assert_eq!(times["arrays"]["time"]["shape"], serde_json::json!([3]));
    let (_, series) = server.get("/api/0/series");
    assert!(series.starts_with(b"time [s],"));
    let (_, rest) = server.get(&format!("/api/0/series?from={}", series.len() - 5));
    assert_eq!(rest, series[series.len() - 5..]);
    assert_eq!(server.json("/api/0/summary")["state"], "finished");
    assert!(server.get("/").1.starts_with(b"<!"));
}

#[test]
fn only_the_run_is_served() {
    let server = Served::new(finished("paths"));
    std::fs::write(server.folder.join("secret.txt"), "secret").unwrap();
    for path in [
        "/secret.txt",
        "/api/0/secret.txt",
        "/api/0/../secret.txt",
        "/api/0/frame/../../secret.txt",
        "/api/0/%2e%2e%2fsecret.txt",
        "/api/0/frame/%2e%2e",
        "//etc/passwd",
        "/../../etc/passwd",
        "/api/1/frame/0",
        "/api/-1/frame/0",
        "/api/0/frame/11",
        "/api/0/frame/-1",
        "/api/0/frame/1e3",
        "/api/0/frame/99999999999999999999",
        "/api/0/model/7",
        "/api/0/frame/0/0",
        "/api/0",
        "/api/%00/frame/0",
        "/api/0/checkpoint.bin",
        "/run.vtkhdf",
    ] {
        let (status, body) = server.get(path);
        assert!((400..500).contains(&status), "{path}: {status}");
        assert!(!body.windows(6).any(|w| w == b"secret") || !body.starts_with(b"secret"), "{path}");
    }
}

#[test]
fn other_sites_and_other_methods_are_refused() {
    let server = Served::new(finished("sites"));
    for headers in
        ["Origin: https://evil.example\r\n", "Origin: null\r\n", "Sec-Fetch-Site: cross-site\r\n"]
    {
        assert_eq!(server.ask("/api/runs", headers).0, 403, "{headers}");
    }
    let own = format!("Origin: http://127.0.0.1:{}\r\n", server.port);
    assert_eq!(server.ask("/api/runs", &own).0, 200);
    // A name of another site that resolves to this machine.
    let rebound = b"GET /api/runs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert!(server.raw(rebound).starts_with(b"HTTP/1.1 403"));
    let host = format!("127.0.0.1:{}", server.port);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        let request =
            format!("{method} /api/runs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        assert!(server.raw(request.as_bytes()).starts_with(b"HTTP/1.1 405"), "{method}");
    }
}

#[test]
fn malformed_requests_do_not_end_the_server() {
    let server = Served::new(finished("malformed"));
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(1 << 20));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(20_000));
    for request in [
        &b""[..],
        b"\0\0\0\0",
        b"GET",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\r\n\r\n\r\n",
        b"\xff\xfe\xfd\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: \xff\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzzzz\r\n",
        long.as_bytes(),
        many.as_bytes(),
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let _ = stream.write_all(request);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    assert_eq!(server.get("/api/runs").0, 200);
}

#[test]
fn two_hundred_clients_are_served_at_once() {
    let server = Served::new(finished("clients"));
    std::thread::scope(|scope| {
        for k in 0..200 {
            let server = &server;
            scope.spawn(move || {
                let (status, body) = server.get(&format!("/api/0/frame/{}", k % 11));
                assert!(status == 200 && body.starts_with(b"RRB1"), "{k}: {status}");
            });
        }
    });
    // Connections that say nothing do not keep others out.
    let silent: Vec<_> =
        (0..200).map(|_| TcpStream::connect(("127.0.0.1", server.port)).unwrap()).collect();
    assert_eq!(server.get("/api/runs").0, 200);
    drop(silent);
}

/// Memory of this process [bytes], where the system tells it.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? << 10)
}

#[test]
fn clients_that_do_not_read_neither_fill_the_memory_nor_stop_live_updates() {
    let folder = finished("silent");
    let path = folder.join(riprap_io::run_file::FILE);
    let whole = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let rows = "0.125,1\n".repeat(8 << 20);
    std::fs::write(folder.join("series.csv"), format!("time [s],a\n{rows}")).unwrap();
    drop(rows);
    let server = Served::new(folder);
    let request = |path: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let host = format!("localhost:{}", server.port);
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        stream
    };
    let before = memory();
    let mut silent: Vec<TcpStream> = (0..100).map(|_| request("/api/0/series")).collect();
    for stream in &mut silent {
        stream.read_exact(&mut [0]).expect("an answer");
    }
    // All answers are made. With whole tables they would take 6.4 GB.
    if let (Some(before), Some(now)) = (before, memory()) {
        assert!(now.saturating_sub(before) < 300 << 20, "{before} {now}");
    }
    let mut events = Events::new(request("/api/events"));
    events.wait_for("\"n_frames\":0");
    std::fs::write(&path, &whole).unwrap();
    events.wait_for("\"n_frames\":11");
    assert_eq!(server.get("/api/0/frame/10").0, 200);
    // The table is read in pieces.
    let (mut length, mut pieces) = (0, 0);
    loop {
        let (status, piece) = server.get(&format!("/api/0/series?from={length}"));
        assert_eq!(status, 200);
        if piece.is_empty() {
            break;
        }
        (length, pieces) = (length + piece.len(), pieces + 1);
    }
    assert_eq!((length, pieces), ((64 << 20) + 11, 65));
}

#[test]
fn a_truncated_run_file_is_reported_and_the_server_goes_on() {
    let folder = finished("truncated");
    let path = folder.join(riprap_io::run_file::FILE);
    let whole = std::fs::read(&path).unwrap();
    let server = Served::new(folder);
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let answers: Vec<u16> = (0..11).map(|k| server.get(&format!("/api/0/frame/{k}")).0).collect();
    assert!(answers.iter().all(|status| [200, 404, 500].contains(status)), "{answers:?}");
    assert!(answers.iter().any(|status| *status != 200), "{answers:?}");
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(server.get("/api/0/frame/10").0, 200);
}

/// The stream of events of a server.
struct Events {
    stream: TcpStream,
    text: String,
}

impl Events {
    fn new(stream: TcpStream) -> Events {
        Events { stream, text: String::new() }
    }

    fn wait_for(&mut self, word: &str) {
        let mut part = [0; 4096];
        while !self.text.contains(word) {
            let n = self.stream.read(&mut part).expect("an event in time");
            assert!(n > 0, "{}", self.text);
            self.text += &String::from_utf8_lossy(&part[..n]);
        }
    }
}

#[test]
fn events_announce_frames_of_a_run_that_grows() {
    let folder = finished("events");
    let path = folder.join(riprap_io::run_file::FILE);
    let whole = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let server = Served::new(folder);
    assert_eq!(server.json("/api/runs")["runs"][0]["n_frames"], 0);
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET /api/events HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server.port).unwrap();
    let mut events = Events::new(stream);
    events.wait_for("\"n_frames\":0");
    std::fs::write(&path, &whole).unwrap();
    events.wait_for("\"n_frames\":11");
}

#[test]
fn a_run_that_starts_over_is_read_again() {
    let folder = finished("over");
    let server = Served::new(folder.clone());
    let file = SceneFile::parse(&SCENE.replace("\"0.1 s\"", "\"0.05 s\""), Path::new(".")).unwrap();
    let options = Options { existing: Existing::Overwrite, ..Options::new(&folder) };
    Run::new(&file, options).unwrap().execute(&mut ()).unwrap();
    let run = &server.json("/api/runs")["runs"][0];
    assert_eq!((&run["n_frames"], run["generation"].as_u64() > Some(1)), (&6.into(), true));
    assert_eq!(server.get("/api/0/frame/5").0, 200);
    assert_eq!(server.get("/api/0/frame/6").0, 404);
}

#[test]
fn a_page_to_share_contains_the_run_and_no_title_ends_its_scripts() {
    let folder = finished("page");
    let source = Source::open(&folder).unwrap();
    let page = Page::of(&source, 50_000_000).unwrap();
    assert_eq!((page.n_frames, page.of, page.size()), (11, 11, page.html().len()));
    assert!(!page.html().contains("</script><b>") && page.html().contains("\\u003c/script>"));
    assert_eq!(page.html().matches("id=\"riprap-data\"").count(), 1);
    for k in 0..11 {
        assert!(page.html().contains(&format!("\"api/0/frame/{k}\"")), "{k}");
    }
    // Little room: frames are left out evenly; the first, one in the middle and the last stay.
    let small = Page::of(&source, 1000).unwrap();
    assert!(small.n_frames == 3 && small.size() < page.size(), "{}", small.n_frames);
    std::fs::remove_dir_all(folder).unwrap();
}

/// Two stones; the upper one breaks the lower one when it lands.
const CRUSHING: &str = r#"
seed = 3
[run]
dt = "0.5 ms"
until = "40 ms"
output_every = "2 ms"
[materials.rock]
density = 2500
friction = 0.4
fragmentation = { criterion = "peak-force", strength = "600 N", smallest = "40 mm" }
[[body]]
name = "floor"
kind = "fixed"
shape = { type = "half-space" }
material = "rock"
[[body]]
name = "low"
position = [0, 0, 0.05]
shape = { type = "box", size = [0.1, 0.1, 0.1] }
material = "rock"
[[body]]
name = "high"
position = [0.02, 0, 0.16]
velocity = [0, 0, -2]
shape = { type = "box", size = [0.1, 0.09, 0.1] }
material = "rock"
"#;

#[test]
fn histories_follow_bodies_by_their_id_while_others_break() {
    let folder = std::env::temp_dir().join(format!("riprap-view-{}-broken", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let file = SceneFile::parse(CRUSHING, Path::new(".")).unwrap();
    Run::new(&file, Options::new(&folder)).unwrap().execute(&mut ()).unwrap();
    let source = Source::open(&folder).unwrap();
    let extent = source.refresh().unwrap();
    assert!(extent.models > 1, "a stone breaks");
    let models: Vec<u32> = (0..extent.n_frames).map(|k| source.poses(k).unwrap().model).collect();
    assert!(models.is_sorted() && *models.last().unwrap() + 1 == extent.models);
    let ids: Vec<u32> = source.model(0).unwrap().0.ids.clone();
    let last = source.model(extent.models - 1).unwrap().0;
    for id in ids.iter().chain(&last.ids) {
        let present =
            models.iter().filter(|m| source.model(**m).unwrap().0.ids.contains(id)).count();
        let history = header(&source.history(*id).unwrap());
        assert_eq!(history["arrays"]["time"]["shape"][0], present, "body {id}");
        assert!(present > 0 && last.ids.contains(id) || present < models.len(), "body {id}");
    }
    // A body that never was has an empty history.
    assert_eq!(header(&source.history(4_000_000).unwrap())["arrays"]["time"]["shape"][0], 0);
    let page = Page::of(&source, 50_000_000).unwrap();
    for number in 0..extent.models {
        assert!(page.html().contains(&format!("\"api/0/model/{number}\"")), "{number}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn every_answer_forbids_guessing_types_framing_and_other_origins() {
    let server = Served::new(finished("headers"));
    for path in ["/", "/api/runs", "/api/0/frame/0", "/api/0/frame/99", "/nowhere"] {
        let host = format!("127.0.0.1:{}", server.port);
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = String::from_utf8_lossy(&server.raw(request.as_bytes())).to_lowercase();
        let head = answer.split("\r\n\r\n").next().unwrap();
        for line in [
            "x-content-type-options: nosniff",
            "cross-origin-resource-policy: same-origin",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "default-src 'none'",
            "frame-ancestors 'self'",
        ] {
            assert!(head.contains(line), "{path}: {line}\n{head}");
        }
        assert!(!head.contains("access-control-allow-origin"), "{path}");
    }
}
