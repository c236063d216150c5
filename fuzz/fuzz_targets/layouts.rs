//! Arbitrary lines against every layout: whatever stands in a transcript, a view of it is made.

#![no_main]

use libfuzzer_sys::fuzz_target;
use quipu_event::{Event, RunId, decode_line};
use quipu_view::markdown::Length;
use quipu_view::{
    AtifView, AwfView, ChromeTraceView, FileTree, FileView, FlowStudioView, HtmlView, KgentOptions,
    KgentView, MarkdownView, OtlpView, SpokenContent, TranscriptView, WinkView,
};

fuzz_target!(|bytes: &[u8]| {
    let lines = bytes.split(|&byte| byte == b'\n');
    let events: Vec<Event> = lines.filter_map(|line| decode_line(line).ok()).collect();
    let Some(first) = events.first() else { return };
    layouts(&first.run_id).into_iter().for_each(|view| check(view, &events));
});

fn layouts(root: &RunId) -> Vec<Box<dyn FileView>> {
    vec![
        Box::new(KgentView::new(KgentOptions { root: None })),
        Box::new(FlowStudioView::new()),
        Box::new(WinkView::new()),
        Box::new(AwfView::new()),
        Box::new(MarkdownView::new(Length::Short)),
        Box::new(HtmlView::new()),
        Box::new(AtifView::new()),
        Box::new(OtlpView::new(root, SpokenContent::Carried)),
        Box::new(ChromeTraceView::new()),
        Box::new(TranscriptView::new()),
    ]
}

fn check(mut view: Box<dyn FileView>, events: &[Event]) {
    let mut files = FileTree::default();
    events.iter().for_each(|event| view.add(event, &mut files));
    view.finish(&mut files);
    assert!(view.losses().total() <= events.len() as u64, "more was lost than there was");
}
