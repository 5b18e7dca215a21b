//! Keeps other sites out. A page of another site can send requests to a server on loopback, so the server answers only if the host is one of
//! its own names (a foreign name that resolves to this machine is refused) and the request comes from its own page.

use std::net::IpAddr;

use axum::http::header::{HOST, HeaderMap, ORIGIN};
use axum::http::{Method, StatusCode};

/// What a server accepts.
#[derive(Clone, Debug)]
pub struct Guard {
    host: String,
    port: u16,
}

impl Guard {
    /// Accepts this host, and numeric addresses, with this port.
    pub fn new(host: &str, port: u16) -> Guard {
        Guard { host: host.to_ascii_lowercase(), port }
    }

    /// Why a request is refused.
    pub fn check(&self, method: &Method, headers: &HeaderMap) -> Result<(), (StatusCode, &str)> {
        if *method != Method::GET && *method != Method::HEAD {
            return Err((StatusCode::METHOD_NOT_ALLOWED, "runs can only be read"));
        }
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let Some(host) = text(HOST).filter(|host| self.is_own(host)) else {
            return Err((StatusCode::FORBIDDEN, "this host name is not that of the viewer"));
        };
        let same = |origin: &str| origin.strip_prefix("http://") == Some(host);
        if text(ORIGIN).is_some_and(|origin| !same(origin)) {
            return Err((StatusCode::FORBIDDEN, "requests of other sites are refused"));
        }
        let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
        // A link from another page may open the viewer, but scripts of that page may not read it.
        let opens = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        if !opens && site.is_some_and(|site| site == b"cross-site" || site == b"same-site") {
            return Err((StatusCode::FORBIDDEN, "requests of other sites are refused"));
        }
        Ok(())
    }

    /// Whether a value of the header `Host` names this server.
    fn is_own(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        let name = name.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        // A tunnel may have another port on its near end.
        port.is_some_and(|port: u16| port == self.port || name == "localhost" || is_loopback(&name))
            && (name == "localhost" || name == self.host || name.parse::<IpAddr>().is_ok())
    }
}

fn is_loopback(name: &str) -> bool {
    name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(headers: &[(&str, &str)]) -> Option<StatusCode> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(
                axum::http::HeaderName::from_bytes(name.as_bytes()).unwrap(),
                value.parse().unwrap(),
            );
        }
        Guard::new("lab.example", 7747).check(&Method::GET, &map).err().map(|(code, _)| code)
    }

    #[test]
    fn own_names_and_numeric_addresses_are_accepted() {
        for host in
            ["localhost:7747", "127.0.0.1:7747", "[::1]:7747", "LAB.example:7747", "10.0.0.5:7747"]
        {
            assert_eq!(answer(&[("host", host)]), None, "{host}");
        }
        // The near end of a tunnel.
        assert_eq!(answer(&[("host", "localhost:9000")]), None);
    }

    #[test]
    fn foreign_names_ports_and_missing_hosts_are_refused() {
        for host in ["evil.example:7747", "10.0.0.5:80", "lab.example", "localhost:x", "", "[::1"] {
            assert_eq!(answer(&[("host", host)]), Some(StatusCode::FORBIDDEN), "{host}");
        }
        assert_eq!(answer(&[]), Some(StatusCode::FORBIDDEN));
    }

    #[test]
    fn scripts_of_other_sites_are_refused_and_links_are_not() {
        let host = ("host", "localhost:7747");
        assert_eq!(answer(&[host, ("origin", "http://localhost:7747")]), None);
        for origin in ["https://evil.example", "http://localhost:7748", "null", "http://"] {
            assert_eq!(
                answer(&[host, ("origin", origin)]),
                Some(StatusCode::FORBIDDEN),
                "{origin}"
            );
        }
        let cross = ("sec-fetch-site", "cross-site");
        assert_eq!(answer(&[host, cross]), Some(StatusCode::FORBIDDEN));
        assert_eq!(answer(&[host, cross, ("sec-fetch-mode", "navigate")]), None);
    }

    #[test]
    fn only_reads_are_accepted() {
        let guard = Guard::new("localhost", 1);
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS, Method::TRACE] {
            let (code, _) = guard.check(&method, &HeaderMap::new()).unwrap_err();
            assert_eq!(code, StatusCode::METHOD_NOT_ALLOWED);
        }
    }

    #[test]
    fn hosts_that_look_like_an_own_name_are_refused() {
        for host in [
            "localhost.evil.example:7747",
            "evil.localhost:7747",
            "127.0.0.1.evil.example:7747",
            "lab.example.evil:7747",
            "xlab.example:7747",
            "lab.example:77470",
            "lab.example:7747:7747",
            "lab.example:-1",
            "lab.example@evil.example:7747",
            "user@lab.example:7747",
            "0x7f.1:7747",
            "127.1:7747",
            "1e100:7747",
            ":7747",
            "[]:7747",
            "[::1]x:7747",
            "10.0.0.5",
            " localhost:7747 x",
        ] {
            assert_eq!(answer(&[("host", host)]), Some(StatusCode::FORBIDDEN), "{host}");
        }
    }

    #[test]
    fn origins_must_be_the_page_itself_letter_by_letter() {
        let host = ("host", "localhost:7747");
        for origin in [
            "http://LOCALHOST:7747",
            "https://localhost:7747",
            "http://localhost:7747/",
            "http://localhost:7747.evil.example",
            "http://evil.example/?http://localhost:7747",
            "http://127.0.0.1:7747",
            "file://",
            "",
        ] {
            let code = answer(&[host, ("origin", origin)]);
            assert_eq!(code, Some(StatusCode::FORBIDDEN), "{origin}");
        }
    }

    #[test]
    fn requests_of_the_page_and_of_a_person_are_accepted() {
        let host = ("host", "127.0.0.1:7747");
        for site in ["same-origin", "none"] {
            assert_eq!(answer(&[host, ("sec-fetch-site", site)]), None, "{site}");
        }
        for (site, mode) in
            [("same-site", "cors"), ("cross-site", "no-cors"), ("cross-site", "websocket")]
        {
            let code = answer(&[host, ("sec-fetch-site", site), ("sec-fetch-mode", mode)]);
            assert_eq!(code, Some(StatusCode::FORBIDDEN), "{site} {mode}");
        }
        // A form of another site that opens the viewer by a link has an origin.
        let navigate = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        let evil = ("origin", "http://evil.example");
        assert_eq!(answer(&[host, navigate[0], navigate[1], evil]), Some(StatusCode::FORBIDDEN));
    }
}
