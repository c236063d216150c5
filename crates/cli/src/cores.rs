//! Work on many things, shared among the cores.

use std::thread;

/// Fewer things than this are not worth a thread.
const LEAST_SHARE: usize = 256;

/// Returns `work` of each of `items`, in their order.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let work = &work;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = items.len().div_ceil(threads).max(LEAST_SHARE);
    let work_on = |items: &[T]| items.iter().map(work).collect::<Vec<R>>();
    thread::scope(|scope| {
        let (own, others) = items.split_at(share.min(items.len()));
        let others: Vec<_> =
            others.chunks(share).map(|items| scope.spawn(move || work_on(items))).collect();
        let mut results = work_on(own);
        for other in others {
            results.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_stand_in_the_order_of_their_items() {
        for count in [0, 1, 255, 256, 257, 5000] {
            let items: Vec<u32> = (0..count).collect();
            let expected: Vec<u64> = items.iter().map(|&item| u64::from(item) * 2).collect();
            assert_eq!(super::map(&items, |&item| u64::from(item) * 2), expected);
        }
    }
}
