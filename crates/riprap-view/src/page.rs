//! The page of the viewer, and pages that contain a run.

use std::fmt::Write as _;
use std::io::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::{Map, Value, json};

use crate::source::{Error, Source, WHOLE};

/// The page: `viewer/` built by `cargo xtask viewer`.
pub const VIEWER: &str = include_str!("../assets/viewer.html");

/// Where the data of a self-contained page go.
const PLACE: &str = "<!-- riprap-data -->";

/// Frames whose size is measured before the number of frames is chosen.
const SAMPLE: usize = 8;

/// A self-contained page of a run.
pub struct Page {
    /// Number of frames in the page.
    pub n_frames: usize,
    /// Number of frames of the run.
    pub of: usize,
    html: String,
}

impl Page {
    /// A page of at most about `limit` bytes. If there are too many frames, some are left out at even intervals.
    pub fn of(source: &Source, limit: usize) -> Result<Page, Error> {
        let mut info = source.info()?;
        let models: Vec<u32> = source.models()?;
        let of = models.len();
        if of == 0 {
            let folder = source.folder().display();
            return Err(Error::Missing(format!("the run in {folder} has no frames")));
        }
        let mut files = Files::default();
        for (address, text) in [("summary", source.summary()), ("series", source.series(0, WHOLE))]
        {
            if let Ok(text) = text {
                files.add(&format!("api/0/{address}"), &text);
            }
        }
        let room = limit.saturating_sub(VIEWER.len() + files.size);
        let kept = kept(source, &models, room)?;
        let mut numbers: Vec<u32> = kept.iter().map(|frame| models[*frame]).collect();
        let mut times = Vec::new();
        for (k, frame) in kept.iter().enumerate() {
            let poses = source.poses(*frame)?;
            times.push(poses.time);
            files.add(&format!("api/0/frame/{k}"), &crate::wire::frame(&poses));
            files.add(&format!("api/0/contacts/{k}"), &source.contacts(*frame)?);
        }
        files.add("api/0/times?from=0", &crate::wire::times(&times, &numbers));
        numbers.dedup();
        for number in numbers {
            files.add(&format!("api/0/model/{number}"), &source.model(number)?.1);
        }
        info["n_frames"] = kept.len().into();
        if info["state"] == "running" {
            info["state"] = "unknown".into();
        }
        Ok(Page { n_frames: kept.len(), of, html: files.page(&json!([info])) })
    }

    /// Size of the page [bytes].
    pub fn size(&self) -> usize {
        self.html.len()
    }

    /// The page.
    pub fn html(&self) -> &str {
        &self.html
    }

    /// The page as an element of another page, with a height [pixels].
    pub fn embedded(&self, height: u32) -> String {
        let page = self.html.replace('&', "&amp;").replace('"', "&quot;");
        format!(
            "<iframe srcdoc=\"{page}\" style=\"width:100%;height:{height}px;border:0\" title=\"riprap viewer\"></iframe>"
        )
    }
}

/// The frames for which there is room [bytes], at even intervals and with the last one.
fn kept(source: &Source, models: &[u32], room: usize) -> Result<Vec<usize>, Error> {
    let of = models.len();
    let mut sample = Files::default();
    let stride = of.div_ceil(SAMPLE);
    let mut model = None;
    for frame in (0..of).step_by(stride) {
        sample.add("", &source.frame(frame)?);
        sample.add("", &source.contacts(frame)?);
        if model.replace(models[frame]) != Some(models[frame]) {
            sample.add("", &source.model(models[frame])?.1);
        }
    }
    let each = sample.size / of.div_ceil(stride);
    let count = (room / each.max(1)).clamp(2, of.max(2));
    let mut kept: Vec<usize> = (0..of).step_by(of.div_ceil(count).max(1)).collect();
    if kept.last() != Some(&(of - 1)) {
        kept.push(of - 1);
    }
    Ok(kept)
}

/// Files inside a page.
#[derive(Default)]
struct Files {
    names: Map<String, Value>,
    scripts: String,
    size: usize,
}

impl Files {
    fn add(&mut self, address: &str, bytes: &[u8]) {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
        // Writing to memory does not fail.
        let _ = encoder.write_all(bytes);
        let text = STANDARD.encode(encoder.finish().unwrap_or_default());
        let id = format!("riprap-file-{}", self.names.len());
        let _ = writeln!(
            self.scripts,
            "<script id=\"{id}\" type=\"application/octet-stream;base64\" data-encoding=\"deflate-raw\">{text}</script>"
        );
        self.size = self.scripts.len();
        self.names.insert(address.into(), id.into());
    }

    /// The viewer with these files.
    fn page(self, runs: &Value) -> String {
        let index = json!({ "runs": runs, "files": self.names });
        // Names come from scene files; no text of theirs may end the element.
        let index = index.to_string().replace('<', "\\u003c");
        let data = format!(
            "<script id=\"riprap-data\" type=\"application/json\">{index}</script>\n{}",
            self.scripts
        );
        VIEWER.replacen(PLACE, &data, 1)
    }
}
