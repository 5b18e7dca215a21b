//! Connections whose clients must read: a client that takes nothing for some time is given up, so that the memory of its answer is free.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// A stream whose writes fail if nothing can be written for some time.
pub struct Patient<T> {
    stream: T,
    patience: Duration,
    end: Pin<Box<Sleep>>,
    waiting: bool,
}

impl<T> Patient<T> {
    /// Waits at most this long for each write.
    pub fn new(stream: T, patience: Duration) -> Patient<T> {
        Patient { stream, patience, end: Box::pin(sleep(patience)), waiting: false }
    }

    /// The result of a write, or an error if there has been none for too long.
    fn judged<W>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<W>>,
    ) -> Poll<io::Result<W>> {
        if written.is_ready() {
            self.waiting = false;
            return written;
        }
        if !self.waiting {
            self.waiting = true;
            self.end.as_mut().reset(Instant::now() + self.patience);
        }
        self.end.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Patient<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Patient<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judged(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.judged(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.judged(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpStream;

    use super::*;

    /// Bytes that a server gets rid of, with its last error, and how long it tried; the client reads a part every 50 ms, so many times.
    fn sent(parts: usize, patience: Duration) -> (usize, io::ErrorKind, Duration) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            let reader = std::thread::spawn(move || {
                let mut part = vec![0; 16 << 20];
                for _ in 0..parts {
                    std::thread::sleep(Duration::from_millis(50));
                    client.read_exact(&mut part).unwrap();
                }
                client
            });
            let mut stream = Patient::new(stream, patience);
            let (mut total, start) = (0, Instant::now());
            let error = loop {
                let write = |context: &mut Context<'_>| {
                    Pin::new(&mut stream).poll_write(context, &[0; 1 << 16])
                };
                match std::future::poll_fn(write).await {
                    Ok(n) => total += n,
                    Err(error) => break error.kind(),
                }
            };
            drop(reader.join());
            (total, error, start.elapsed())
        })
    }

    #[test]
    fn a_client_that_does_not_read_is_given_up() {
        let (_, error, time) = sent(0, Duration::from_millis(300));
        assert_eq!(error, io::ErrorKind::TimedOut);
        assert!(time >= Duration::from_millis(300), "{time:?}");
    }

    #[test]
    fn a_client_that_reads_slowly_is_served() {
        let (total, error, _) = sent(8, Duration::from_secs(2));
        assert_eq!(error, io::ErrorKind::TimedOut);
        assert!(total >= 8 << 24, "{total}");
    }
}
