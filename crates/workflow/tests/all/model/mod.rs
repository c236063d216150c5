//! Random workflows, run for real: what the transcript tells is what happened.
//!
//! Two things know what happened without asking the transcript: the hands that did the work, and a
//! forecast that walks the workflow as a person would with a finger on the page.

mod forecast;
mod plan;
mod stage;

use proptest::collection::vec;
use proptest::prelude::*;

use plan::{Plan, Racing, any_plan};
use stage::Stage;

fn config() -> ProptestConfig {
    // Each case is a few runs, with files of their own.
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases / 4, max_shrink_iters: 4000, ..default }
}

proptest! {
    #![proptest_config(config())]

    /// Everything: paths, attempts, statuses, iterations, kinds, called runs.
    #[test]
    fn the_tree_rebuilt_from_the_file_is_what_the_workflow_says(plan in any_plan()) {
        let stage = Stage::play(&plan, Racing::No);
        let forecast = forecast::of(&plan);
        prop_assert_eq!(
            stage.told_by_tree("main"), forecast.text,
            "the file tells something else of\n{}", stage.shown()
        );
        stage.check_numbers(forecast.enters_nothing_twice);
        stage.check_work();
        stage.check_files();
    }

    /// Where branches race and stop each other no forecast is possible, but each piece of work is
    /// still told where it was done, and everything that began has ended.
    #[test]
    fn races_are_told_as_they_were_run(plan in any_plan()) {
        let stage = Stage::play(&plan, Racing::Yes);
        stage.check_work();
        stage.check_files();
    }

    /// Crashes at any moment change nothing but that attempts were cut short.
    #[test]
    fn a_run_that_crashed_anywhere_comes_to_what_the_workflow_says(
        plan in any_plan().prop_map(Plan::without_dead_ends),
        moments in vec(0.0..1.0_f64, 1..3),
        leave_empty: bool,
    ) {
        let mut stage = Stage::play(&plan, Racing::No);
        for moment in moments {
            let (done, told) = stage.crash_and_resume(moment, leave_empty);
            prop_assert_eq!(done, told, "what was over is done again\n{}", stage.shown());
        }
        prop_assert_eq!(
            stage.told_by_tree("main"), forecast::of(&plan).text,
            "the file tells something else of\n{}", stage.shown()
        );
        stage.check_resumed_files();
    }

    #[test]
    fn races_that_crashed_anywhere_end_and_leave_sound_files(
        plan in any_plan(), moment in 0.0..1.0_f64, leave_empty: bool,
    ) {
        let mut stage = Stage::play(&plan, Racing::Yes);
        stage.crash_and_resume(moment, leave_empty);
        stage.check_resumed_files();
    }
}
