//! Orders of elimination that couple few contacts (minimum degree), and the couplings that result.
//! Finding one can cost more than all sweeps of a solve, so it is given up as soon as the elimination
//! itself would exceed a limit, and contacts with the same neighbours (those of one face) are
//! eliminated together.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::packed::Packed;

/// Not among the contacts of a system.
pub(super) const NONE: u32 = u32::MAX;

/// All contacts of a problem in the order of elimination.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    order: Vec<u32>,
    /// For each contact, the contacts with which it shares a block in its row or column; empty if
    /// each block has its transpose. Elimination needs space for both.
    ties: Vec<Vec<u32>>,
    work: f64,
}

/// The couplings of an elimination.
pub(super) struct Couplings {
    /// The contacts in the order of elimination, and the index of each among them.
    pub nodes: Vec<u32>,
    pub place: Vec<u32>,
    /// For each of them the later ones that it is coupled to, in order.
    pub later: Vec<Vec<u32>>,
    /// Number of multiplications without symmetry.
    pub work: f64,
}

/// Multiplications for a pivot with `tied` later neighbours.
fn pivot_work(tied: usize) -> f64 {
    27.0 * (tied * tied + 1) as f64
}

impl Order {
    /// Finds an order; `None` if the elimination takes more than `most` multiplications.
    pub(super) fn new(packed: &Packed, most: f64) -> Option<Order> {
        let n = packed.len();
        let mut ties: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut blocks = 0;
        for b in 0..n {
            for (a, _) in packed.column(b) {
                ties[a].push(b as u32);
                ties[b].push(a as u32);
                blocks += 1;
            }
        }
        for list in &mut ties {
            list.sort_unstable();
            list.dedup();
        }
        let symmetric = ties.iter().map(Vec::len).sum::<usize>() == blocks;
        let (groups, neighbours) = merge(&ties);
        let weights: Vec<usize> = groups.iter().map(Vec::len).collect();
        let (order, work) = bounded_order(neighbours, &weights, most)?;
        let order = order.iter().flat_map(|group| &groups[*group as usize]).copied().collect();
        let ties = if symmetric { Vec::new() } else { ties };
        Some(Order { order, ties, work })
    }

    /// Number of multiplications of an elimination of all contacts.
    pub(super) fn work(&self) -> f64 {
        self.work
    }

    /// The couplings that arise when some contacts are eliminated; `None` if that takes more than `most`
    /// multiplications.
    pub(super) fn couplings(
        &self,
        packed: &Packed,
        contacts: &[u32],
        most: f64,
    ) -> Option<Couplings> {
        let mut place = vec![NONE; packed.len()];
        contacts.iter().for_each(|a| place[*a as usize] = 0);
        let mut nodes = Vec::with_capacity(contacts.len());
        for &a in &self.order {
            if place[a as usize] != NONE {
                place[a as usize] = nodes.len() as u32;
                nodes.push(a);
            }
        }
        // Contacts coupled by the elimination of k: its later neighbours, and those that earlier
        // eliminations coupled to it.
        let m = nodes.len();
        let mut later: Vec<Vec<u32>> = vec![Vec::new(); m];
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); m];
        let mut seen = vec![NONE; m];
        let mut work = 0.0;
        for k in 0..m {
            let mut tied = Vec::new();
            let mut add = |j: u32| {
                if j != NONE && j as usize > k && seen[j as usize] != k as u32 {
                    seen[j as usize] = k as u32;
                    tied.push(j);
                }
            };
            let contact = nodes[k] as usize;
            match self.ties.get(contact) {
                None => packed.column(contact).for_each(|(a, _)| add(place[a])),
                Some(ties) => ties.iter().for_each(|a| add(place[*a as usize])),
            }
            for child in &children[k] {
                later[*child as usize].iter().for_each(|j| add(*j));
            }
            tied.sort_unstable();
            if let Some(parent) = tied.first() {
                children[*parent as usize].push(k as u32);
            }
            work += pivot_work(tied.len());
            if work > most {
                return None;
            }
            later[k] = tied;
        }
        Some(Couplings { nodes, place, later, work })
    }
}

/// Groups nodes that have the same neighbours apart from each other. Returns the groups, and the
/// groups next to each.
fn merge(ties: &[Vec<u32>]) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let n = ties.len();
    let with_itself = |a: usize| {
        let mut list = ties[a].clone();
        if let Err(at) = list.binary_search(&(a as u32)) {
            list.insert(at, a as u32);
        }
        list
    };
    // Nodes with the same sum of mixed indices are compared one by one.
    let mix = |a: u32| (u64::from(a) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
    let key = |a: usize| ties[a].iter().fold(mix(a as u32), |sum, b| sum.wrapping_add(mix(*b)));
    let mut sorted: Vec<(u64, u32)> = (0..n).map(|a| (key(a), a as u32)).collect();
    sorted.sort_unstable();
    let mut group = vec![NONE; n];
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for same in sorted.chunk_by(|a, b| a.0 == b.0) {
        for (k, (_, a)) in same.iter().enumerate() {
            if group[*a as usize] != NONE {
                continue;
            }
            let own = with_itself(*a as usize);
            let id = groups.len() as u32;
            group[*a as usize] = id;
            let mut members = vec![*a];
            for (_, b) in &same[k + 1..] {
                if group[*b as usize] == NONE && with_itself(*b as usize) == own {
                    group[*b as usize] = id;
                    members.push(*b);
                }
            }
            groups.push(members);
        }
    }
    let next = |members: &Vec<u32>| {
        let own = group[members[0] as usize];
        let mut list: Vec<u32> =
            ties[members[0] as usize].iter().map(|b| group[*b as usize]).collect();
        list.sort_unstable();
        list.dedup();
        list.retain(|other| *other != own);
        list
    };
    let neighbours = groups.iter().map(next).collect();
    (groups, neighbours)
}

/// An elimination order that couples few nodes of a graph, given the neighbours of each: always one
/// with the fewest remaining neighbours.
pub(super) fn minimum_degree(neighbours: Vec<Vec<u32>>) -> Vec<u32> {
    let weights = vec![1; neighbours.len()];
    let found = bounded_order(neighbours, &weights, f64::INFINITY);
    found.map(|(order, _)| order).unwrap_or_default()
}

/// The same for nodes that stand for several; `None` if the elimination takes more than `most` multiplications.
/// Also returns their number. Nodes coupled by an elimination are stored as one element, not as pairs.
fn bounded_order(
    mut neighbours: Vec<Vec<u32>>,
    weights: &[usize],
    most: f64,
) -> Option<(Vec<u32>, f64)> {
    let n = neighbours.len();
    // Elements that contain a node, and the nodes of each element with the sum of their weights; its index is that of the
    // node whose elimination created it.
    let mut elements: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut sizes = vec![0usize; n];
    let weight = |list: &[u32]| list.iter().map(|a| weights[*a as usize]).sum::<usize>();
    let mut degree: Vec<usize> = neighbours.iter().map(|list| weight(list)).collect();
    let mut queue: BinaryHeap<_> = (0..n).map(|a| Reverse((degree[a], a as u32))).collect();
    let mut done = vec![false; n];
    let mut seen = vec![NONE; n];
    let mut order = Vec::with_capacity(n);
    let mut work = 0.0;
    while let Some(Reverse((of, p))) = queue.pop() {
        if done[p as usize] || of != degree[p as usize] {
            continue;
        }
        done[p as usize] = true;
        order.push(p);
        let mut tied = Vec::new();
        let absorbed = std::mem::take(&mut elements[p as usize]);
        let lists = absorbed.iter().map(|e| &members[*e as usize]);
        for a in lists.flatten().chain(&neighbours[p as usize]) {
            if !done[*a as usize] && seen[*a as usize] != p {
                seen[*a as usize] = p;
                tied.push(*a);
            }
        }
        let coupled = weight(&tied);
        work += (0..weights[p as usize]).map(|k| pivot_work(coupled + k)).sum::<f64>();
        if work > most {
            return None;
        }
        if most.is_finite() && order.len() + tied.len() == n {
            // All that is left is coupled already.
            tied.sort_unstable();
            let left = weight(&tied);
            work += (0..left).map(pivot_work).sum::<f64>();
            order.extend_from_slice(&tied);
            break;
        }
        absorbed.iter().for_each(|e| members[*e as usize].clear());
        for &a in &tied {
            let a = a as usize;
            elements[a].retain(|e| !members[*e as usize].is_empty());
            elements[a].push(p);
            neighbours[a].retain(|b| seen[*b as usize] != p && !done[*b as usize]);
        }
        members[p as usize] = tied;
        sizes[p as usize] = coupled;
        for &a in &members[p as usize] {
            let a = a as usize;
            let through: usize = elements[a].iter().map(|e| sizes[*e as usize] - weights[a]).sum();
            degree[a] = weight(&neighbours[a]) + through;
            queue.push(Reverse((degree[a], a as u32)));
        }
    }
    (work <= most).then_some((order, work))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of nodes, each of them `width` times.
    fn ladder(length: usize, width: usize) -> Vec<Vec<u32>> {
        let n = length * width;
        let near =
            |a: usize| (0..n).filter(move |b| *b != a && (a / width).abs_diff(b / width) <= 1);
        (0..n).map(|a| near(a).map(|b| b as u32).collect()).collect()
    }

    #[test]
    fn nodes_with_the_same_neighbours_are_one_group() {
        let (groups, neighbours) = merge(&ladder(5, 4));
        assert!(groups.len() == 5 && groups.iter().all(|g| g.len() == 4));
        let mut counts: Vec<usize> = neighbours.iter().map(Vec::len).collect();
        counts.sort_unstable();
        assert_eq!(counts, [1, 1, 2, 2, 2]);
        // Nodes of a star have the same neighbour, but are not coupled to each other.
        let star = vec![vec![1, 2, 3], vec![0], vec![0], vec![0]];
        assert_eq!(merge(&star).0.len(), 4);
    }

    #[test]
    fn every_order_holds_each_node_once_and_a_limit_ends_the_search() {
        for (length, width) in [(1, 1), (1, 7), (2, 3), (30, 1), (20, 4)] {
            let graph = ladder(length, width);
            let mut order = minimum_degree(graph.clone());
            order.sort_unstable();
            assert_eq!(order, (0..graph.len() as u32).collect::<Vec<_>>());
            let ones = vec![1; graph.len()];
            let (_, work) = bounded_order(graph.clone(), &ones, f64::INFINITY).unwrap();
            assert!(bounded_order(graph, &ones, 0.99 * work).is_none());
        }
    }
}
