//! Who asks agents and does what is built in, for all steps of a run and its children.

use std::sync::Arc;

use quipu_workflow::agent::{self, AgentSettings, Desk, Person};
use quipu_workflow::driver::{Hands, Performance, Site};
use quipu_workflow::engine::{AgentJob, OperationJob};
use quipu_workflow::operation::{self, OperationSettings};

/// The hands of a run that this program started.
pub(super) struct OwnHands {
    pub(super) agents: Arc<AgentSettings>,
    pub(super) operations: Arc<OperationSettings>,
    pub(super) person: Arc<dyn Person>,
}

impl Hands for OwnHands {
    fn ask(&self, job: AgentJob, site: Site) -> Performance {
        let desk = Desk {
            at: site.at,
            scribe: site.scribe,
            stop: site.stop,
            person: Arc::clone(&self.person),
            settings: Arc::clone(&self.agents),
            dir: site.dir,
        };
        Box::pin(agent::ask(job, desk))
    }

    fn operate(&self, job: OperationJob, site: Site) -> Performance {
        let settings = Arc::clone(&self.operations);
        Box::pin(async move { operation::perform(job, site.stop, &settings).await })
    }
}
