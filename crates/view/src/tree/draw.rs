//! A tree → rows, with long stretches of successful iterations folded into one.
//!
//! It decides what is shown and where the branches go; colours and widths are the printer's.

use quipu_event::payload::Status;

use super::{Node, Row, RunTree};

/// How a tree is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// How many successful iterations in a row are still drawn one by one.
    pub fold_above: usize,
}

impl Default for RenderOptions {
    fn default() -> Self {
        RenderOptions { fold_above: 20 }
    }
}

/// Draws `run` and everything below it.
///
/// An iteration is folded only when everything inside it, child runs included, succeeded or was
/// skipped: whatever failed or is still open has a row of its own.
pub fn render(run: &RunTree, options: &RenderOptions) -> Vec<Row> {
    let mut rows = vec![Row::of_run(String::new(), run)];
    draw_all(&branches_of_run(run, options), "", options, &mut rows);
    rows
}

/// What hangs below something else.
enum Branch<'a> {
    Node(&'a Node),
    Iterations(&'a [Node]),
    Run(&'a RunTree),
}

fn draw_all(branches: &[Branch<'_>], indent: &str, options: &RenderOptions, rows: &mut Vec<Row>) {
    let Some((last, others)) = branches.split_last() else { return };
    for branch in others {
        let further = format!("{indent}│  ");
        draw(branch, format!("{indent}├─ "), &further, options, rows);
    }
    draw(last, format!("{indent}└─ "), &format!("{indent}   "), options, rows);
}

fn draw(
    branch: &Branch<'_>,
    prefix: String,
    further: &str,
    options: &RenderOptions,
    rows: &mut Vec<Row>,
) {
    match *branch {
        Branch::Node(node) => {
            rows.push(Row::of_node(prefix, node));
            draw_all(&branches_of_node(node, options), further, options, rows);
        }
        Branch::Run(run) => {
            rows.push(Row::of_run(prefix, run));
            draw_all(&branches_of_run(run, options), further, options, rows);
        }
        Branch::Iterations(nodes) => rows.push(Row::of_iterations(prefix, nodes)),
    }
}

fn branches_of_run<'a>(run: &'a RunTree, options: &RenderOptions) -> Vec<Branch<'a>> {
    let mut branches = fold(&run.steps, options);
    branches.extend(run.strays.iter().map(Branch::Run));
    branches
}

fn branches_of_node<'a>(node: &'a Node, options: &RenderOptions) -> Vec<Branch<'a>> {
    let mut branches = fold(&node.children, options);
    branches.extend(node.child_runs().map(Branch::Run));
    branches
}

/// Lists siblings, long stretches of quiet iterations as one.
fn fold<'a>(siblings: &'a [Node], options: &RenderOptions) -> Vec<Branch<'a>> {
    let foldable = |node: &Node| node.iteration().is_some() && is_quiet(node);
    let mut branches = Vec::new();
    let mut rest = siblings;
    while !rest.is_empty() {
        let stretch = rest.iter().take_while(|node| foldable(node)).count();
        if stretch > options.fold_above.max(1) {
            branches.push(Branch::Iterations(&rest[..stretch]));
            rest = &rest[stretch..];
        } else {
            // A stretch of none means that the first node is not foldable: it is drawn.
            let drawn = stretch.max(1);
            branches.extend(rest[..drawn].iter().map(Branch::Node));
            rest = &rest[drawn..];
        }
    }
    branches
}

/// Tells whether nothing here or below failed, is open or ended in a way not known.
fn is_quiet(node: &Node) -> bool {
    let quiet =
        |status: Option<Status>| matches!(status, Some(Status::Succeeded | Status::Skipped));
    quiet(node.status())
        && node.children.iter().all(is_quiet)
        && node.child_runs().all(|run| quiet(run.status.clone()) && run.steps.iter().all(is_quiet))
}
