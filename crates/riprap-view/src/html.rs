//! Parts of HTML pages: escaped text, tables, the frame of a page.

/// Text as HTML: characters with a meaning are escaped, also within attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            // Characters that HTML does not allow.
            c if c.is_control() && !matches!(c, '\n' | '\t') => html.push('\u{fffd}'),
            c => html.push(c),
        }
    }
    html
}

/// A table; cells are escaped. Those of columns with a number in `right` are right-aligned.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>], right: &[usize]) -> String {
    let mut html = String::from("<table>\n");
    let cell = |tag: &str, k: usize, text: &str| {
        let class = if right.contains(&k) { " class=\"number\"" } else { "" };
        format!("<{tag}{class}>{}</{tag}>", escaped(text))
    };
    if !head.is_empty() {
        let cells: String = head.iter().enumerate().map(|(k, text)| cell("th", k, text)).collect();
        html += &format!("<thead><tr>{cells}</tr></thead>\n");
    }
    html += "<tbody>\n";
    for row in rows {
        let cells: String = row.iter().enumerate().map(|(k, text)| cell("td", k, text)).collect();
        html += &format!("<tr>{cells}</tr>\n");
    }
    html + "</tbody></table>\n"
}

/// A whole page; the title is escaped, the body is HTML.
pub(crate) fn page(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

const STYLE: &str = include_str!("page.css");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let evil = "<script>alert(\"x\")</script> & 'y' \u{0}";
        let safe = "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;y&#39; \u{fffd}";
        assert_eq!(escaped(evil), safe);
        let html = page(evil, &table(&[evil], &[vec![evil.into()]], &[0]));
        assert!(!html.contains("<script") && html.matches("&lt;script&gt;").count() == 3);
    }
}
