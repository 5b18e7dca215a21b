//! `riprap render`, `plot`, `report` and `compare` on real runs.

mod common;

use common::{Folder, code, stderr, stdout, success};

/// A ball that falls on a block; the title of the scene is hostile.
fn run(folder: &Folder, out: &str, height: f64) {
    let scene = format!(
        "title = \"<script>alert(1)</script>\"\n[run]\ndt = \"1 ms\"\nuntil = \"0.2 s\"\noutput_every = \"20 ms\"\n\
         [materials.steel]\ndensity = 7800\nrestitution = 0.5\n\
         [[body]]\nname = \"block\"\nkind = \"fixed\"\nmaterial = \"steel\"\nposition = [0, 0, -0.05]\n\
         shape = {{ type = \"box\", size = [0.4, 0.4, 0.1] }}\n\
         [[body]]\nname = \"ball\"\nmaterial = \"steel\"\nposition = [0, 0, {height}]\n\
         shape = {{ type = \"sphere\", radius = 0.05 }}\n\
         [[probe]]\nname = \"b\"\nbody = \"ball\"\nquantities = [\"position\", \"velocity\"]\n"
    );
    folder.write("scene.toml", scene);
    success(&folder.riprap(&["run", "scene.toml", "--out", out]));
}

#[test]
fn the_usual_curves_are_plotted_with_units() {
    let folder = Folder::new("plot");
    run(&folder, "out", 0.1);
    success(&folder.riprap(&["plot", "out"]));
    for (file, words) in [
        ("energies", ["time [s]", "energy [J]", "kinetic_energy"]),
        ("momenta", ["time [s]", "momentum [kg m/s]", "Momenta"]),
        ("solver", ["time [s]", "Residual and penetration", "penetration [–]"]),
        ("b", ["position [m]", "velocity [m/s]", ">\nz\n<"]),
    ] {
        let svg = folder.read(&format!("out/plots/{file}.svg"));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{file}");
        for word in words {
            assert!(svg.contains(word), "{word} in {file}");
        }
    }
    success(&folder.riprap(&["plot", "out", "--series", "b.*_z", "contacts", "--out", "chosen"]));
    let svg = folder.read("chosen/series.svg");
    assert!(svg.contains("position [m]") && svg.contains("contacts") && !svg.contains("energy"));
    let output = folder.riprap(&["plot", "out", "--series", "speed"]);
    assert_eq!(code(&output), Some(2));
    let message = stderr(&output);
    assert!(message.contains("`speed`") && message.contains("kinetic_energy"), "{message}");
    let output = folder.riprap(&["plot", "nowhere"]);
    assert_eq!(code(&output), Some(2), "{}", stderr(&output));
}

#[test]
fn a_report_is_one_page_with_escaped_names() {
    let folder = Folder::new("report");
    run(&folder, "out", 0.1);
    success(&folder.riprap(&["report", "out", "--no-pictures"]));
    let html = folder.read("out/report.html");
    assert!(html.contains("&lt;script&gt;alert(1)") && !html.contains("<script"), "not escaped");
    assert!(html.contains("name = &quot;block&quot;"), "the scene");
    for words in
        ["finished", "How to cite and repeat this run", "SHA-256", "energy [J]", "Warnings"]
    {
        assert!(html.contains(words), "{words}");
    }
    let output = folder.riprap(&["report", "."]);
    assert_eq!(code(&output), Some(2));
    assert!(stderr(&output).contains("no run in this folder"), "{}", stderr(&output));
}

#[test]
fn equal_runs_are_equal_and_others_differ_by_more_than_a_tolerance() {
    let folder = Folder::new("compare");
    run(&folder, "a", 0.1);
    run(&folder, "b", 0.1);
    run(&folder, "c", 0.101);
    let same = folder.riprap(&["compare", "a", "b", "--tolerance", "0"]);
    success(&same);
    let text = stdout(&same);
    assert!(text.contains("scenes are equal") && text.contains("series are equal"), "{text}");
    let other = ["compare", "a", "c", "--html", "page.html"];
    success(&folder.riprap(&other));
    let output = folder.riprap(&[&other[..], &["--tolerance", "1e-6"]].concat());
    assert_eq!(code(&output), Some(1));
    let text = stdout(&output);
    for words in
        ["body[1].position", "energy_begin.total_J", "b.position_z [m]", "differ from 0 s on"]
    {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(folder.read("page.html").contains("<svg"));
}

#[test]
fn frames_are_drawn_as_pictures_and_films() {
    let folder = Folder::new("render");
    run(&folder, "out", 0.1);
    let small = ["--size", "64x48", "--samples", "2"];
    let render =
        |arguments: &[&str]| folder.riprap(&[&["render", "out"][..], &small, arguments].concat());
    success(&render(&["--out", "last.png"]));
    success(&render(&[
        "--out",
        "first.png",
        "--time",
        "0",
        "--color-by",
        "speed",
        "--theme",
        "dark",
    ]));
    let [last, first] =
        ["last.png", "first.png"].map(|name| std::fs::read(folder.0.join(name)).unwrap());
    assert!(last.starts_with(b"\x89PNG") && last != first);
    success(&render(&["--out", "again.png", "--threads", "1"]));
    assert_eq!(std::fs::read(folder.0.join("again.png")).unwrap(), last);
    let film = render(&["--video", "film.gif", "--fps", "10", "--plain"]);
    success(&film);
    assert!(stdout(&film).contains("3 pictures"), "{}", stdout(&film));
    for (arguments, words) in [
        (&["--time", "9"][..], "from 0 s to 0.2 s"),
        (&["--cut", "q"], "such as `x>0.1`"),
        (&["--eye", "1,2"], "three numbers"),
        (&["--fps", "0"], "greater than 0"),
    ] {
        let output = render(arguments);
        assert_eq!(code(&output), Some(2));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    let report = folder.riprap(&["report", "out"]);
    success(&report);
    assert_eq!(folder.read("out/report.html").matches("data:image/png;base64,").count(), 3);
}

#[cfg(unix)]
#[test]
fn films_are_piped_to_ffmpeg_if_it_is_found() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("ffmpeg");
    run(&folder, "out", 0.1);
    let bin = folder.0.join("bin");
    std::fs::create_dir(&bin).unwrap();
    let render = |file: &str| {
        let words = ["render", "out", "--video", file, "--fps", "10", "--size", "64x48"];
        let mut command = common::command(&folder.0);
        // Without any other program: the stand-in is found by this path.
        command.args(words).args(["--samples", "1", "--plain"]).env("PATH", &bin);
        command.output().unwrap()
    };
    let bytes = |name: &str| std::fs::read(folder.0.join(name)).unwrap();
    let film = render("film.mp4");
    success(&film);
    assert!(stderr(&film).contains("ffmpeg was not found; writing film.gif"), "{}", stderr(&film));
    assert!(bytes("film.gif").starts_with(b"GIF89a"));
    let stand_in = |script: &str| {
        let path = bin.join("ffmpeg");
        std::fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    stand_in("for last; do echo \"$last\" >> arguments; done; /bin/cat > \"${last#file:}\"\n");
    for name in ["film.mp4", "-y.webm"] {
        let film = render(&format!("./{name}"));
        success(&film);
        assert_eq!(stderr(&film), "");
        assert!(stdout(&film).contains("3 pictures"), "{}", stdout(&film));
        // Three raw pictures of three bytes per pixel.
        let pictures = bytes(name);
        assert_eq!(pictures.len(), 3 * 64 * 48 * 3, "{name}");
        let (first, last) = (&pictures[..64 * 48 * 3], &pictures[2 * 64 * 48 * 3..]);
        assert!(first != last && first.iter().any(|byte| *byte != first[0]), "{name}");
        let arguments = folder.read("arguments");
        let words: Vec<&str> = arguments.lines().collect();
        for pair in [["-pix_fmt", "rgb24"], ["-s", "64x48"], ["-r", "10"], ["-i", "-"]] {
            assert!(words.windows(2).any(|two| two == pair), "{pair:?}\n{arguments}");
        }
        assert_eq!(words.contains(&"+faststart"), name.ends_with("mp4"), "{arguments}");
        assert_eq!(words.last(), Some(&format!("file:./{name}").as_str()));
        std::fs::remove_file(folder.0.join("arguments")).unwrap();
    }
    // It ends before it has read anything, or after everything.
    for script in ["exit 3\n", "/bin/cat > /dev/null; exit 3\n"] {
        stand_in(script);
        let film = render("broken.mp4");
        assert_eq!(code(&film), Some(1), "{}", stderr(&film));
        assert!(stderr(&film).contains("ffmpeg failed"), "{}", stderr(&film));
    }
}

/// Runs a command in a folder and checks that it is refused as wrong input, with all words in the message.
#[track_caller]
fn refused(folder: &Folder, arguments: &[&str], words: &[&str]) {
    let output = folder.riprap(arguments);
    let message = stderr(&output);
    assert_eq!(code(&output), Some(2), "{arguments:?}\n{message}");
    for word in words {
        assert!(message.contains(word), "{arguments:?}: {word}\n{message}");
    }
}

#[test]
fn folders_without_a_run_are_refused_by_every_command() {
    let folder = Folder::new("no-run");
    std::fs::create_dir(folder.0.join("empty")).unwrap();
    folder.write("file.txt", "no run");
    for place in ["empty", "nowhere", "file.txt"] {
        for command in [
            &["render", place][..],
            &["render", place, "--video", "film.gif"],
            &["plot", place],
            &["report", place],
            &["compare", place, place],
            &["view", place, "--no-open"],
            &["view", place, "--html", "page.html"],
        ] {
            refused(&folder, command, &[place]);
        }
    }
    refused(&folder, &["view", "empty", "--no-open"], &["frames = true"]);
    refused(&folder, &["report", "empty"], &["summary.json"]);
    refused(&folder, &["plot", "empty"], &["series.csv"]);
    assert_eq!(folder.names(), ["empty", "file.txt"]);
    assert!(std::fs::read_dir(folder.0.join("empty")).unwrap().next().is_none());
}

#[test]
fn options_that_cannot_be_read_say_what_is_expected() {
    let folder = Folder::new("view-options");
    for (arguments, words) in [
        (&["render", "out", "--size", "640"][..], &["1280x720", "from 16 to 16384"][..]),
        (&["render", "out", "--size", "0x0"], &["from 16 to 16384"]),
        (&["render", "out", "--size", "99999x99"], &["from 16 to 16384"]),
        (&["render", "out", "--size=-5x9"], &["from 16 to 16384"]),
        (&["render", "out", "--samples", "0"], &["1..=4096"]),
        (&["render", "out", "--threads", "0"], &["from 1 to 1024"]),
        (&["render", "out", "--time=-1 s"], &["must not be negative"]),
        (&["render", "out", "--time", "1 kg"], &["kg"]),
        (&["render", "out", "--speed=-1"], &["greater than 0"]),
        (&["render", "out", "--fps", "inf"], &["greater than 0"]),
        (&["render", "out", "--view", "left"], &["iso", "front", "back", "side", "top"]),
        (&["render", "out", "--color-by", "mass"], &["speed", "force", "coordination"]),
        (&["render", "out", "--theme", "pink"], &["light", "dark"]),
        (&["render", "out", "--cut", "x=1"], &["such as `x>0.1`", "x=1"]),
        (&["render", "out", "--eye", "1,2,3"], &["--target"]),
        (&["render", "out", "--target", "1,2,3"], &["--eye"]),
        (&["render", "out", "--eye", "1,2,nan", "--target", "0,0,0"], &["three numbers"]),
        (&["render", "out", "--video", "a.gif", "--time", "0"], &["--time"]),
        (&["render", "out", "--video", "a.gif", "--out", "a.png"], &["--out"]),
        (&["render"], &["<RUN>"]),
        (&["compare", "a"], &["<SECOND>"]),
        (&["compare", "a", "b", "--tolerance=-1"], &["not negative"]),
        (&["compare", "a", "b", "--tolerance", "nan"], &["not negative"]),
        (&["view"], &["<DIR>"]),
        (&["view", "a", "b", "c"], &["c"]),
        (&["view", "a", "--port", "70000"], &["65535"]),
        (&["view", "a", "--force"], &["--html"]),
        (&["view", "a", "--html", "p.html", "--port", "1"], &["--port"]),
        (&["view", "a", "--html", "p.html", "--max-size", "0"], &["greater than 0"]),
        (&["plot", "a", "--series"], &["--series"]),
    ] {
        refused(&folder, arguments, words);
    }
    assert!(folder.names().is_empty());
}

#[test]
fn every_option_changes_the_picture_and_none_spoils_it() {
    let folder = Folder::new("render-options");
    run(&folder, "out", 0.1);
    let picture = |arguments: &[&str]| {
        let fixed = ["render", "out", "--size", "160x120", "--samples", "2", "--out", "a.png"];
        success(&folder.riprap(&[&fixed[..], arguments].concat()));
        std::fs::read(folder.0.join("a.png")).unwrap()
    };
    let mut pictures = vec![("default", picture(&[]))];
    for (name, arguments) in [
        ("front", &["--view", "front"][..]),
        ("back", &["--view", "back"]),
        ("side", &["--view", "side"]),
        ("top", &["--view", "top"]),
        ("orthographic", &["--orthographic"]),
        ("dark", &["--theme", "dark"]),
        ("plain", &["--plain"]),
        ("speed", &["--color-by", "speed"]),
        ("displacement", &["--color-by", "displacement"]),
        ("size", &["--color-by", "size"]),
        ("force", &["--color-by", "force"]),
        ("touching", &["--color-by", "coordination"]),
        ("no walls", &["--hide", "walls"]),
        ("no ball", &["--hide", "b?ll"]),
        ("nothing", &["--hide", "ball", "--hide", "block"]),
        ("cut", &["--cut", "x>0"]),
        ("cut below", &["--cut", "x<0"]),
        ("from afar", &["--eye", "-3,-3,1", "--target", "0,0,0"]),
        ("first", &["--time", "0"]),
        ("middle", &["--time", "50 ms"]),
    ] {
        let bytes = picture(arguments);
        for (other, known) in &pictures {
            assert!(*known != bytes, "{name} is the same picture as {other}");
        }
        pictures.push((name, bytes));
    }
    // A time between two frames shows the earlier one; names that hide nothing change nothing.
    assert_eq!(picture(&["--time", "59 ms", "--plain"]), picture(&["--time", "40 ms", "--plain"]));
    assert_eq!(picture(&["--hide", "nobody"]), pictures[0].1);
    // The run file itself is accepted in place of its folder.
    success(&folder.riprap(&["render", "out/run.vtkhdf", "--size", "160x120", "--samples", "2"]));
    assert_eq!(std::fs::read(folder.0.join("picture.png")).unwrap(), pictures[0].1);
}

#[test]
fn films_have_the_length_of_the_run_divided_by_the_speed() {
    let folder = Folder::new("films");
    run(&folder, "out", 0.1);
    let film = |arguments: &[&str]| {
        let fixed = ["render", "out", "--size", "16x16", "--samples", "1", "--video", "film.gif"];
        folder.riprap(&[&fixed[..], arguments].concat())
    };
    for (arguments, pictures) in [
        (&["--fps", "10"][..], "3 pictures"),
        (&["--fps", "50"], "11 pictures"),
        (&["--fps", "10", "--speed", "0.1"], "21 pictures"),
        (&["--fps", "10", "--speed", "100"], "1 picture\n"),
    ] {
        let output = film(arguments);
        success(&output);
        assert!(stdout(&output).contains(pictures), "{arguments:?}: {}", stdout(&output));
        let bytes = std::fs::read(folder.0.join("film.gif")).unwrap();
        assert!(bytes.starts_with(b"GIF89a\x10\x00\x10\x00") && bytes.ends_with(b";"));
    }
    std::fs::remove_file(folder.0.join("film.gif")).unwrap();
    for arguments in [&["--fps", "1e300"][..], &["--speed", "1e-300"], &["--fps", "1e9"]] {
        let output = film(arguments);
        assert_eq!(code(&output), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("fewer per second or a higher speed"));
    }
    assert!(!folder.0.join("film.gif").exists());
}

#[test]
fn a_page_to_share_is_not_overwritten_without_being_asked() {
    let folder = Folder::new("page");
    run(&folder, "out", 0.1);
    let output = folder.riprap(&["view", "out", "--html", "page.html"]);
    success(&output);
    assert!(stdout(&output).contains("all 11 frames"), "{}", stdout(&output));
    assert_eq!(stderr(&output), "");
    let html = folder.read("page.html");
    assert!(html.starts_with("<!") && html.contains("id=\"riprap-data\""));
    assert!(!html.contains("<script>alert(1)"), "the title is hostile");
    folder.write("page.html", "mine");
    refused(&folder, &["view", "out", "--html", "page.html"], &["page.html", "--force"]);
    assert_eq!(folder.read("page.html"), "mine");
    let small = ["view", "out", "--html", "page.html", "--force", "--max-size", "0.001"];
    let output = folder.riprap(&small);
    success(&output);
    assert!(stdout(&output).contains("3 of 11 frames"), "{}", stdout(&output));
    let warning = stderr(&output);
    assert!(warning.contains("larger than --max-size 0.001"), "{warning}");
    assert!(warning.contains("3 frames at least"), "{warning}");
    assert!(folder.read("page.html").len() < html.len());
    refused(&folder, &["view", "out", "out", "--html", "two.html"], &["one run"]);
    // A file that cannot be written is not a mistake of the input.
    let output = folder.riprap(&["view", "out", "--html", "nowhere/page.html"]);
    assert_eq!(code(&output), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("nowhere"), "{}", stderr(&output));
}

#[test]
fn addresses_that_cannot_be_listened_on_are_refused_with_a_remedy() {
    let folder = Folder::new("listen");
    run(&folder, "out", 0.1);
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let words = [port.as_str(), "another --port"];
    refused(&folder, &["view", "out", "--no-open", "--port", &port], &words);
    let nowhere = ["view", "out", "--no-open", "--host", "no such host"];
    refused(&folder, &nowhere, &["no such host"]);
}

#[test]
fn comparisons_exit_with_the_code_that_their_tolerance_asks_for() {
    let folder = Folder::new("compare-codes");
    run(&folder, "whole", 0.1);
    std::fs::create_dir(folder.0.join("other")).unwrap();
    for file in ["summary.json", "scene.toml"] {
        folder.write(&format!("other/{file}"), folder.read(&format!("whole/{file}")));
    }
    let series = folder.read("whole/series.csv");
    let (head, rows) = series.split_once('\n').unwrap();
    let lines: Vec<&str> = rows.lines().collect();
    let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let last = changed.last_mut().unwrap();
    // The last column of the last row by far too large.
    *last = format!("{},1e9", last.rsplit_once(',').unwrap().0);
    for (name, text, words) in [
        ("same", series.clone(), "The series are equal."),
        (
            "ended early",
            format!("{head}\n{}\n", lines[..4].join("\n")),
            "the second ends at 0.06 s",
        ),
        ("no rows", format!("{head}\n"), "the second has no rows"),
        ("one value", format!("{head}\n{}\n", changed.join("\n")), "differ from 0.2 s on"),
        ("a column", series.replacen("kinetic_energy", "cinetic_energy", 1), "in one series only"),
    ] {
        folder.write("other/series.csv", text);
        let output = folder.riprap(&["compare", "whole", "other", "--html", "page.html"]);
        success(&output);
        assert!(stdout(&output).contains(words), "{name}: {}", stdout(&output));
        assert!(folder.read("page.html").contains(words), "{name}");
        let judged = folder.riprap(&["compare", "whole", "other", "--tolerance", "0.5"]);
        assert_eq!(code(&judged), Some(i32::from(name != "same")), "{name}: {}", stdout(&judged));
        let strict = folder.riprap(&["compare", "other", "whole", "--tolerance", "0"]);
        assert_eq!(code(&strict), Some(i32::from(name != "same")), "{name}: {}", stdout(&strict));
    }
    folder.write("other/series.csv", format!("{head}\n1,2,3\n"));
    refused(&folder, &["compare", "whole", "other"], &["series.csv", "line 2"]);
}

#[test]
fn outputs_go_where_they_are_asked_for() {
    let folder = Folder::new("places");
    run(&folder, "out", 0.1);
    success(&folder.riprap(&["report", "out", "--no-pictures", "--out", "here.html"]));
    assert!(folder.read("here.html").ends_with("</html>\n"));
    assert!(!folder.0.join("out/report.html").exists());
    let output = folder.riprap(&["plot", "out", "--out", "a/b/c"]);
    success(&output);
    let names: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
    assert!(
        names.len() >= 4 && names.iter().all(|name| folder.0.join(name).is_file()),
        "{names:?}"
    );
    for arguments in [
        &["report", "out", "--no-pictures", "--out", "nowhere/r.html"][..],
        &["render", "out", "--size", "16x16", "--samples", "1", "--out", "nowhere/p.png"],
        &["render", "out", "--size", "16x16", "--samples", "1", "--video", "nowhere/f.gif"],
        &["compare", "out", "out", "--html", "nowhere/c.html"],
        &["plot", "out", "--out", "here.html"],
    ] {
        let output = folder.riprap(arguments);
        let message = stderr(&output);
        assert_eq!(code(&output), Some(1), "{arguments:?}\n{message}");
        assert!(message.contains("nowhere") || message.contains("here.html"), "{message}");
    }
}
