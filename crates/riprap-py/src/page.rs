//! The viewer in a notebook, or as a file to share.

use std::path::PathBuf;

use pyo3::prelude::*;

use riprap_view::page::Page;
use riprap_view::source::Source;

use crate::errors;
use crate::exit;

/// The viewer with a run inside: shows itself in a notebook, and can be saved as one file that opens in any browser.
/// `RunFolder.view` makes it.
///
/// >>> import riprap as rr, tempfile, pathlib
/// >>> folder = pathlib.Path(tempfile.mkdtemp())
/// >>> _ = (folder / "ball.toml").write_text('''
/// ... run = { dt = "1 ms", until = "0.1 s", output_every = "50 ms" }
/// ... materials.steel = { density = 7800 }
/// ... [[body]]
/// ... material = "steel"
/// ... shape = { type = "sphere", radius = 0.1 }
/// ... ''')
/// >>> page = rr.run(folder / "ball.toml", out=folder / "out").open().view(max_size=5)
/// >>> page.n_frames
/// 3
/// >>> page.save(folder / "ball.html")
/// >>> (folder / "ball.html").read_text(encoding="utf-8")[:15]
/// '<!doctype html>'
#[pyclass(frozen, module = "riprap")]
pub struct ViewerPage {
    page: Page,
    height: u32,
}

#[pymethods]
impl ViewerPage {
    /// The viewer of the run in a folder, of at most about `max_size` megabytes; frames are left out evenly if there are too many.
    /// `height` is that in a notebook [pixels].
    #[new]
    #[pyo3(signature = (folder, *, max_size=20.0, height=560))]
    fn new(py: Python, folder: PathBuf, max_size: f64, height: u32) -> PyResult<ViewerPage> {
        if !(max_size > 0.0 && max_size.is_finite()) {
            return Err(errors::value(format!("max_size is {max_size}; expected megabytes > 0")));
        }
        let made = exit::detach(py, || {
            let source = Source::open(&folder)?;
            Page::of(&source, (max_size * 1e6) as usize)
        });
        Ok(ViewerPage { page: made.map_err(errors::file)?, height })
    }

    /// Number of frames in the page.
    #[getter]
    fn n_frames(&self) -> usize {
        self.page.n_frames
    }

    /// The page as text.
    #[getter]
    fn html(&self) -> &str {
        self.page.html()
    }

    /// Writes the page to a file.
    fn save(&self, py: Python, path: PathBuf) -> PyResult<()> {
        let html = self.page.html().as_bytes();
        exit::detach(py, || riprap_io::write_whole(&path, html)).map_err(errors::file)
    }

    fn _repr_html_(&self) -> String {
        self.page.embedded(self.height)
    }

    fn __repr__(&self) -> String {
        let size = self.page.size() as f64 / 1e6;
        format!("<riprap.ViewerPage: {} frames, {size:.1} MB>", self.page.n_frames)
    }
}
