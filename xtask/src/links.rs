//! Checks links of the built site ([`broken_in_site`]) and between Markdown files of the repository
//! ([`broken_in_markdown`]). URLs are not visited.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// Broken links of the HTML files below a folder, one line each: the file or anchor does not exist. Scripts, styles, fonts and
/// images loaded from the network count as broken, because the site has to work offline.
pub fn broken_in_site(folder: &Path) -> Result<Vec<String>, String> {
    let mut pages = BTreeMap::new();
    for path in all_files(folder, "html")? {
        pages.insert(path.clone(), Page::read(&crate::read(&path)?));
    }
    let mut broken = Vec::new();
    for (path, page) in &pages {
        let name = path.strip_prefix(folder).unwrap_or(path).display();
        for (attribute, target) in &page.links {
            if let Some(reason) = why_broken(path, attribute, target, &pages) {
                broken.push(format!("{name}: `{target}` {reason}"));
            }
        }
    }
    Ok(broken)
}

/// Ids and links of one HTML page.
struct Page {
    ids: BTreeSet<String>,
    /// Attribute name and value of each link or loaded resource.
    links: BTreeSet<(String, String)>,
}

impl Page {
    fn read(html: &str) -> Self {
        let (mut ids, mut links) = (BTreeSet::new(), BTreeSet::new());
        for tag in html.split('<').skip(1) {
            let tag = tag.split('>').next().unwrap_or(tag);
            for (attribute, value) in attributes(tag) {
                match attribute {
                    "id" | "name" => drop(ids.insert(unescaped(value))),
                    // A style sheet or an icon is loaded; an anchor is only followed.
                    "href" if tag.starts_with("link") => {
                        links.insert(("src".to_string(), unescaped(value)));
                    }
                    "href" | "src" => drop(links.insert((attribute.into(), unescaped(value)))),
                    _ => {}
                }
            }
        }
        Self { ids, links }
    }
}

/// Attributes of a tag whose values are in double quotes.
fn attributes(tag: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut parts = tag.split('"');
    std::iter::from_fn(move || {
        let name = parts.next()?.trim_end().strip_suffix('=')?;
        let name = name.rsplit(char::is_whitespace).next().unwrap_or(name);
        Some((name, parts.next()?))
    })
}

fn unescaped(value: &str) -> String {
    value.replace("&amp;", "&").replace("&#x27;", "'").replace("%20", " ")
}

fn why_broken(
    page: &Path,
    attribute: &str,
    target: &str,
    pages: &BTreeMap<PathBuf, Page>,
) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") || target.starts_with("data:") {
        let loads = attribute == "src" && !target.starts_with("data:");
        return loads.then(|| "is loaded from the network".into());
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = file.split('?').next().unwrap_or(file);
    // The 404 page may be served from any path, so its links start at the root.
    let path = match file {
        "" => page.to_path_buf(),
        _ if file.starts_with('/') => return None,
        _ => joined(page.parent().unwrap_or(page), file),
    };
    if !path.is_file() {
        return Some("does not exist".into());
    }
    let known = |page: &Page| anchor.is_empty() || page.ids.contains(anchor);
    match pages.get(&path) {
        Some(page) if !known(page) => Some(format!("has no anchor `#{anchor}`")),
        _ => None,
    }
}

/// The path of `file` relative to a folder, with `..` resolved.
fn joined(folder: &Path, file: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in folder.join(file).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// Like [`crate::files`], but without skipping any folder.
fn all_files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            found.extend(all_files(&path, ending)?);
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Links of the Markdown files of the repository whose target does not exist, one line each.
pub fn broken_in_markdown(root: &Path) -> Result<Vec<String>, String> {
    let mut broken = Vec::new();
    for path in crate::files(root, "md")? {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let text = crate::markdown::without_code(&crate::read(&path)?);
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap_or_default();
            let file = target.split('#').next().unwrap_or_default();
            let outside = file.is_empty() || file.contains("://");
            if !outside && !joined(path.parent().unwrap_or(root), file).exists() {
                let line = 1 + text[..at].matches('\n').count();
                broken.push(format!("{name}:{line}: `{target}` does not exist"));
            }
        }
    }
    Ok(broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_between_markdown_files_has_an_existing_target() {
        let broken = broken_in_markdown(crate::root()).unwrap();
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }

    #[test]
    fn missing_files_missing_anchors_and_network_resources_are_found_in_a_site() {
        let folder = std::env::temp_dir().join(format!("riprap-links-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        let front = r##"<h1 id="top">A</h1><a href="#top">1</a> <a class="x" href="inner/b.html#end">2</a>
            <a href="inner/b.html#none">3</a> <img src="gone.png"> <a href="https://a.example/x">4</a>
            <script src="https://cdn.example/x.js"></script>"##;
        std::fs::write(folder.join("a.html"), front).unwrap();
        let back = r#"<p id="end"><a href="../a.html">back</a>"#;
        std::fs::write(folder.join("inner/b.html"), back).unwrap();
        let broken = broken_in_site(&folder).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(
            broken,
            [
                "a.html: `inner/b.html#none` has no anchor `#none`",
                "a.html: `gone.png` does not exist",
                "a.html: `https://cdn.example/x.js` is loaded from the network",
            ]
        );
    }
}
