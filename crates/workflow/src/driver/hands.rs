//! Agents and operations as this crate has them.

use std::sync::Arc;

use super::perform::{Hands, Performance, Site};
use crate::agent::{self, AgentSettings, Desk, Person};
use crate::engine::{AgentJob, OperationJob};
use crate::operation::{self, OperationSettings};

/// Asks real agents, and does what is built in.
pub struct BuiltIn {
    /// What is set for agents.
    pub agents: Arc<AgentSettings>,
    /// Who goes on with conversations.
    pub person: Arc<dyn Person>,
    /// What is set for operations.
    pub operations: Arc<OperationSettings>,
}

impl Hands for BuiltIn {
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
