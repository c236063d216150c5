//! What a plugin may ask of us: nothing but whether we are there.
//!
//! Pings are answered, there are no roots, nobody can be asked anything and no model is lent: that is
//! what the SDK does for a client that says nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};

/// Our side of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Ourselves {
    /// Whether the plugin has other tools than it had.
    pub(super) has_other_tools: Arc<AtomicBool>,
}

impl ClientHandler for Ourselves {
    fn get_info(&self) -> ClientConfig {
        let ourselves = Implementation::new("quipu", env!("CARGO_PKG_VERSION"));
        // Later versions have no greeting, and a server that takes us at our word would expect none.
        let version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        let ourselves = ClientConfig::new(ClientCapabilities::default(), ourselves);
        ourselves.with_protocol_version(version)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.has_other_tools.store(true, Ordering::SeqCst);
    }
}
