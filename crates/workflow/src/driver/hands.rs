//! Agents and operations as this crate has them.

use std::sync::Arc;

use super::perform::{Hands, Performance, Site};
use crate::agent::{self, AgentSettings, Desk, Person};
use crate::engine::{AgentJob, CustomJob, OperationJob};
use crate::toolbox::operate;

/// Asks real agents, and does what is built in.
pub struct BuiltIn {
    /// What is set for agents.
    pub agents: Arc<AgentSettings>,
    /// Who goes on with conversations.
    pub person: Arc<dyn Person>,
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
            toolbox: site.toolbox,
            marks: site.marks,
            clock: site.clock,
        };
        Box::pin(agent::ask(job, desk))
    }

    fn operate(&self, job: OperationJob, site: Site) -> Performance {
        Box::pin(async move { operate(&job.operation, job.inputs, &site).await })
    }

    fn custom(&self, job: CustomJob, site: Site) -> Performance {
        Box::pin(async move { operate(&job.step_type, job.config, &site).await })
    }
}
