//! Analysis of a source file by its tokens: which lines contain code, which belong to tests, and where functions and unsafe
//! blocks are. The file is tokenized as by the compiler, so braces in strings and comments do not matter, and the bodies of
//! macros are included.

use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// A function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Names in the header of the enclosing `impl` or `trait`: the type, the trait, their parameters.
    pub owner: Vec<String>,
    /// Lines from its signature to its closing brace, without documentation and attributes.
    pub lines: RangeInclusive<usize>,
}

impl Function {
    /// Number of lines, including blank lines and comments.
    pub fn n_lines(&self) -> usize {
        self.lines.end() + 1 - self.lines.start()
    }
}

/// Contents of a source file. Lines are counted from 1.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Number of lines, including blank lines and comments.
    pub n_lines: usize,
    /// Lines with code, that is, neither blank nor only comments or documentation.
    pub code: BTreeSet<usize>,
    /// Lines of items with `#[cfg(test)]`.
    pub test_items: Vec<RangeInclusive<usize>>,
    /// Modules with `#[cfg(test)]` in files of their own.
    pub test_modules: Vec<String>,
    /// Functions with a body, including those inside functions and macros.
    pub functions: Vec<Function>,
    /// Lines at which unsafe blocks start.
    pub unsafe_blocks: Vec<usize>,
}

impl Source {
    /// Analyses the text of a file.
    pub fn read(text: &str) -> Result<Source, String> {
        let tokens: TokenStream = text.parse().map_err(|error: proc_macro2::LexError| {
            let at = error.span().start();
            format!("line {}: not valid Rust: {error}", at.line)
        })?;
        let lines: Vec<&str> = text.lines().collect();
        let mut source = Source { n_lines: lines.len(), ..Source::default() };
        source.visit(tokens, &lines, &[]);
        source.code.retain(|line| lines.get(line - 1).is_some_and(|text| !text.trim().is_empty()));
        Ok(source)
    }

    /// Whether the line belongs to an item with `#[cfg(test)]`.
    pub fn is_test(&self, line: usize) -> bool {
        self.test_items.iter().any(|item| item.contains(&line))
    }

    /// Visits tokens recursively; `owner` holds the names in the header of the enclosing `impl`.
    fn visit(&mut self, tokens: TokenStream, lines: &[&str], owner: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        // The brace that ends the header of an `impl` or `trait`, and the names in that header.
        let mut block: Option<(usize, Vec<String>)> = None;
        for (k, token) in tokens.iter().enumerate() {
            if is_comment(token.span(), lines) {
                continue;
            }
            match token {
                TokenTree::Group(group) => {
                    self.mark(group.span_open());
                    self.mark(group.span_close());
                    let inner = match &block {
                        Some((at, names)) if *at == k => names.as_slice(),
                        _ => owner,
                    };
                    self.visit(group.stream(), lines, inner);
                }
                TokenTree::Ident(word) if word == "impl" || word == "trait" => {
                    block = brace_after(&tokens, k).map(|end| (end, names(&tokens[k + 1..end])));
                }
                TokenTree::Ident(word) if word == "fn" => self.add_function(&tokens, k, owner),
                TokenTree::Ident(word)
                    if word == "unsafe" && tokens.get(k + 1).and_then(braces).is_some() =>
                {
                    self.unsafe_blocks.push(token.span().start().line);
                }
                TokenTree::Punct(punct) if punct.as_char() == '#' => self.add_test(&tokens, k),
                _ => {}
            }
            if !matches!(token, TokenTree::Group(_)) {
                self.mark(token.span());
            }
        }
    }

    fn mark(&mut self, span: Span) {
        self.code.extend(span.start().line..=span.end().line);
    }

    /// Records the function whose `fn` is token `k`, unless it is a type or has no body.
    fn add_function(&mut self, tokens: &[TokenTree], k: usize, owner: &[String]) {
        // In a macro the name may be `$name`.
        let name = tokens[k + 1..].iter().take(2).find_map(|token| match token {
            TokenTree::Ident(name) => Some(name.to_string()),
            _ => None,
        });
        let (Some(name), Some(body)) = (name, brace_after(tokens, k)) else { return };
        let lines = tokens[k].span().start().line..=end_line(&tokens[body]);
        self.functions.push(Function { name, owner: owner.to_vec(), lines });
    }

    /// Records the item after the attribute whose `#` is token `k`, if the attribute is `#[cfg(test)]`.
    fn add_test(&mut self, tokens: &[TokenTree], k: usize) {
        let attribute = |at: usize| match (tokens.get(at), tokens.get(at + 1)) {
            (Some(TokenTree::Punct(p)), Some(TokenTree::Group(g))) if p.as_char() == '#' => Some(g),
            _ => None,
        };
        if !attribute(k).is_some_and(asks_for_tests) {
            return;
        }
        let mut item = k + 2;
        while attribute(item).is_some() {
            item += 2;
        }
        let ends = |token: &TokenTree| {
            braces(token).is_some() || matches!(token, TokenTree::Punct(p) if p.as_char() == ';')
        };
        let Some(length) = tokens[item..].iter().position(ends) else { return };
        let end = item + length;
        if let [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(_)] =
            &tokens[item..=end]
            && word == "mod"
        {
            self.test_modules.push(name.to_string());
        }
        self.test_items.push(tokens[k].span().start().line..=end_line(&tokens[end]));
    }
}

/// Whether a span is documentation: the lexer converts doc comments to attributes at the same place.
fn is_comment(span: Span, lines: &[&str]) -> bool {
    let start = span.start();
    let Some(line) = lines.get(start.line - 1) else { return false };
    let mut rest = line.chars().skip(start.column);
    rest.next() == Some('/') && matches!(rest.next(), Some('/' | '*'))
}

fn braces(token: &TokenTree) -> Option<&Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    }
}

/// The first `{…}` after token `k` on the same level; `None` if a `;` comes first.
fn brace_after(tokens: &[TokenTree], k: usize) -> Option<usize> {
    for (at, token) in tokens.iter().enumerate().skip(k + 1) {
        match token {
            TokenTree::Punct(p) if p.as_char() == ';' && p.spacing() == Spacing::Alone => {
                return None;
            }
            _ if braces(token).is_some() => return Some(at),
            _ => {}
        }
    }
    None
}

fn end_line(token: &TokenTree) -> usize {
    match token {
        TokenTree::Group(group) => group.span_close().end().line,
        _ => token.span().end().line,
    }
}

fn names(tokens: &[TokenTree]) -> Vec<String> {
    let name = |token: &TokenTree| match token {
        TokenTree::Ident(name) => Some(name.to_string()),
        _ => None,
    };
    tokens.iter().filter_map(name).collect()
}

/// Whether an attribute is `cfg(test)` or `cfg(all(test, …))`.
fn asks_for_tests(attribute: &Group) -> bool {
    let text: String = attribute.stream().to_string().split_whitespace().collect();
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r##"//! A file.

/// Documentation
/// in two lines.
pub struct Lane<T>(T);

impl<T> Step for Lane<T> {
    // A comment.
    #[inline]
    fn step(
        &self, // the state
    ) -> usize {
        let text = "a { brace

            and // no comment";
        unsafe { text.as_ptr().read() };
        /* nothing
         * here */
        text.len()
    }
}

type Call = fn(usize) -> usize;

#[cfg(test)]
use std::fmt;

#[cfg(test)]
#[path = "x.rs"]
mod properties;

macro_rules! kernel {
    ($name:ident) => {
        unsafe fn $name() {
            unsafe { one() }
        }
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_test() {}
}
"##;

    #[test]
    fn blank_lines_comments_and_documentation_are_not_code() {
        let source = Source::read(TEXT).unwrap();
        assert_eq!(source.n_lines, TEXT.lines().count());
        for line in [1, 2, 3, 4, 6, 8, 14, 17, 18] {
            assert!(!source.code.contains(&line), "{line}: {:?}", TEXT.lines().nth(line - 1));
        }
        for line in [5, 7, 9, 11, 12, 13, 15, 16, 19, 20] {
            assert!(source.code.contains(&line), "{line}: {:?}", TEXT.lines().nth(line - 1));
        }
    }

    #[test]
    fn functions_include_signature_body_and_enclosing_type() {
        let source = Source::read(TEXT).unwrap();
        let named: Vec<(&str, usize)> =
            source.functions.iter().map(|f| (f.name.as_str(), f.n_lines())).collect();
        assert_eq!(named, [("step", 11), ("name", 3), ("a_test", 1)]);
        assert_eq!(source.functions[0].lines, 10..=20);
        assert!(source.functions[0].owner.contains(&"Lane".to_owned()));
        assert!(source.functions[2].owner.is_empty());
    }

    #[test]
    fn unsafe_blocks_are_found_even_in_macros_but_unsafe_functions_do_not_count() {
        let source = Source::read(TEXT).unwrap();
        assert_eq!(source.unsafe_blocks, [16, 35]);
    }

    #[test]
    fn items_with_cfg_test_are_test_code() {
        let source = Source::read(TEXT).unwrap();
        assert_eq!(source.test_items, [25..=26, 28..=30, 40..=44]);
        assert_eq!(source.test_modules, ["properties"]);
        assert!(source.is_test(43) && !source.is_test(39));
    }

    #[test]
    fn invalid_rust_is_rejected_with_the_line() {
        let error = Source::read("fn f() {\n    (\n}\n").unwrap_err();
        assert!(error.starts_with("line "), "{error}");
    }
}
