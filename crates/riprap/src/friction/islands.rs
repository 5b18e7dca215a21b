//! Islands of a contact problem: groups of unknowns that no movable block connects. Each is a problem of its own.

use super::Delassus;

/// The unknowns of each island in ascending order, for a number of unknowns; those that do not move are in none.
pub(super) fn islands(w: &Delassus, n: usize, moves: impl Fn(usize) -> bool) -> Vec<Vec<u32>> {
    let mut parent: Vec<u32> = Vec::new();
    match w {
        // Contacts and blocks of velocities are nodes of one graph.
        Delassus::Factored(w) => {
            parent.extend(0..(n + w.n_blocks()) as u32);
            for a in (0..n).filter(|a| moves(*a)) {
                for block in w.moved_by(a) {
                    unite(&mut parent, a as u32, n as u32 + block);
                }
            }
        }
        Delassus::Blocks(w) => {
            parent.extend(0..n as u32);
            for a in (0..n).filter(|a| moves(*a)) {
                for (b, block) in w.row(a) {
                    if b < n && moves(b) && *block != [[0.0; 3]; 3] {
                        unite(&mut parent, a as u32, b as u32);
                    }
                }
            }
        }
    }
    let mut place = vec![u32::MAX; parent.len()];
    let mut islands: Vec<Vec<u32>> = Vec::new();
    for a in (0..n).filter(|a| moves(*a)) {
        let root = find(&mut parent, a as u32) as usize;
        if place[root] == u32::MAX {
            place[root] = islands.len() as u32;
            islands.push(Vec::new());
        }
        islands[place[root] as usize].push(a as u32);
    }
    islands
}

fn find(parent: &mut [u32], mut a: u32) -> u32 {
    while parent[a as usize] != a {
        parent[a as usize] = parent[parent[a as usize] as usize];
        a = parent[a as usize];
    }
    a
}

fn unite(parent: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(parent, a), find(parent, b));
    parent[a.max(b) as usize] = a.min(b);
}
