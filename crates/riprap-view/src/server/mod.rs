//! The server behind `riprap view`: answers reads of a few runs, and nothing else.

mod guard;
mod patient;
mod routes;

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::{Semaphore, watch};

use crate::source::{Extent, Source};
use guard::Guard;
use patient::Patient;

/// Connections at a time, at most; others wait until one closes.
const CONNECTIONS: usize = 512;
/// A request must arrive within this time, its client must read something of the answer within it, and idle connections are closed
/// after it.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often the run folders are looked at.
const EVERY: Duration = Duration::from_millis(250);
/// The port that is tried first.
pub const PORT: u16 = 7747;

/// A server that is bound to an address.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    host: String,
    sources: Arc<Vec<Source>>,
}

impl Server {
    /// Binds to a host. Without a port, [`PORT`] is used, or any free port if it is taken.
    pub fn bind(sources: Vec<Source>, host: &str, port: Option<u16>) -> io::Result<Server> {
        let bind = |port: u16| {
            let addresses: Vec<SocketAddr> = (host, port).to_socket_addrs()?.collect();
            TcpListener::bind(&addresses[..])
        };
        let listener = match port {
            Some(port) => bind(port)?,
            None => match bind(PORT) {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => bind(0)?,
                bound => bound?,
            },
        };
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Server { listener, address, host: host.to_owned(), sources: Arc::new(sources) })
    }

    /// The address for a browser on this machine.
    pub fn url(&self) -> String {
        let port = self.address.port();
        match self.address.ip() {
            ip if ip.is_unspecified() => format!("http://localhost:{port}/"),
            std::net::IpAddr::V6(ip) => format!("http://[{ip}]:{port}/"),
            ip => format!("http://{ip}:{port}/"),
        }
    }

    /// Whether other machines can reach the server.
    pub fn is_open(&self) -> bool {
        !self.address.ip().is_loopback()
    }

    /// Serves until the flag is set.
    pub fn run(self, stop: &AtomicBool) -> io::Result<()> {
        let runtime = runtime()?;
        let served = runtime.block_on(self.serve(stop));
        // Open event streams do not keep the program from ending.
        runtime.shutdown_timeout(Duration::from_millis(200));
        served
    }

    async fn serve(self, stop: &AtomicBool) -> io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let (send, extents) = watch::channel(Vec::new());
        tokio::spawn(follow(Arc::clone(&self.sources), send));
        let guard = Guard::new(&self.host, self.address.port());
        let router = routes::router(self.sources, extents, guard);
        let connections = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let room = Arc::clone(&connections).acquire_owned();
            let accept = async {
                let room = room.await;
                (room, listener.accept().await)
            };
            let Ok((room, accepted)) = tokio::time::timeout(EVERY, accept).await else { continue };
            let Ok((stream, _)) = accepted else {
                // Out of file descriptors, or a connection that broke at once.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let service = TowerToHyperService::new(router.clone());
            tokio::spawn(async move {
                let mut http = hyper::server::conn::http1::Builder::new();
                http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
                // The client closed the connection, sent an invalid request, or does not read.
                let stream = TokioIo::new(Patient::new(stream, PATIENCE));
                let _ = http.serve_connection(stream, service).await;
                drop(room);
            });
        }
    }
}

/// Threads for connections, for all answers that are made at a time, and one that looks at the run folders.
fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(routes::ANSWERS + 1)
        .enable_all()
        .build()
}

/// Looks at the run folders and announces changes.
async fn follow(sources: Arc<Vec<Source>>, send: watch::Sender<Vec<Extent>>) {
    loop {
        let sources = Arc::clone(&sources);
        let last = send.borrow().clone();
        let look = move || -> Vec<Extent> {
            // A file that cannot be read at the moment is as it was.
            let extent = |(k, source): (usize, &Source)| {
                source.refresh().unwrap_or_else(|_| last.get(k).cloned().unwrap_or_default())
            };
            sources.iter().enumerate().map(extent).collect()
        };
        if let Ok(extents) = tokio::task::spawn_blocking(look).await {
            send.send_if_modified(|known| {
                let changed = *known != extents;
                *known = extents;
                changed
            });
        }
        if send.is_closed() {
            return;
        }
        tokio::time::sleep(EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn runs_are_followed_while_all_answers_take_long() {
        let runtime = runtime().unwrap();
        let gate = Arc::new(Mutex::new(()));
        let closed = gate.lock().unwrap();
        for _ in 0..routes::ANSWERS {
            let gate = Arc::clone(&gate);
            runtime.spawn_blocking(move || drop(gate.lock()));
        }
        let sources = Arc::new(vec![Source::expected("no such folder")]);
        let (send, mut extents) = watch::channel(Vec::new());
        runtime.spawn(follow(sources, send));
        let changed = async { tokio::time::timeout(PATIENCE, extents.changed()).await };
        runtime.block_on(changed).expect("in time").unwrap();
        assert_eq!(extents.borrow().len(), 1);
        drop(closed);
    }
}
