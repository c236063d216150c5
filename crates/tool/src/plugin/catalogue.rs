//! The tools a plugin says it has, read with leniency: a tool that is told badly spoils no other.

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams};
use rmcp::service::{Peer, ServiceError};
use serde_json::{Value, json};

use crate::ToolSpec;

/// More pages than any list has.
const MOST_PAGES: usize = 1000;

/// A tool, as its plugin tells of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Offer {
    pub(super) name: String,
    description: String,
    input_schema: Value,
    is_read_only: bool,
}

/// Why there is no list.
pub(super) enum NoList {
    /// The plugin says so, or says nothing sensible.
    Said(String),
    /// The connection failed.
    Failed(ServiceError),
}

/// Asks for all tools, page by page.
pub(super) async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Offer>, NoList> {
    let mut offers: Vec<Offer> = Vec::new();
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let page = match peer.send_request(page_request(cursor.take())).await {
            Ok(page) => serde_json::to_value(&page).unwrap_or_default(),
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                return Ok(offers);
            }
            Err(ServiceError::McpError(error)) => {
                return Err(NoList::Said(format!("it does not list its tools: {}", error.message)));
            }
            Err(error) => return Err(NoList::Failed(error)),
        };
        let Some(tools) = page["tools"].as_array() else {
            return Err(NoList::Said("what it lists are no tools".to_owned()));
        };
        for offer in tools.iter().filter_map(Offer::read) {
            if !offers.iter().any(|known| known.name == offer.name) {
                offers.push(offer);
            }
        }
        // Some servers say with an empty text that there is no more.
        let next = page["nextCursor"].as_str().filter(|next| !next.is_empty());
        cursor = next.map(str::to_owned);
        if cursor.is_none() {
            return Ok(offers);
        }
    }
    Err(NoList::Said("its list of tools has no end".to_owned()))
}

impl Offer {
    /// Returns the tool as others are told of it.
    pub(super) fn spec(&self, plugin: &str) -> ToolSpec {
        ToolSpec {
            name: format!("{plugin}_{}", self.name),
            description: self.description.clone(),
            input_schema: self.input_schema.clone(),
            provider: format!("mcp:{plugin}"),
            is_read_only: self.is_read_only,
        }
    }

    /// Makes up a tool of which nothing but its name is known.
    pub(super) fn unseen(name: &str) -> Offer {
        Offer {
            name: name.to_owned(),
            description: String::new(),
            input_schema: json!({ "type": "object" }),
            is_read_only: false,
        }
    }

    fn read(tool: &Value) -> Option<Offer> {
        let name = tool["name"].as_str().filter(|name| !name.is_empty())?;
        let said = tool["description"].as_str().or_else(|| tool["title"].as_str());
        let schema = tool.get("inputSchema").filter(|schema| schema.is_object());
        Some(Offer {
            name: name.to_owned(),
            description: said.unwrap_or_default().to_owned(),
            input_schema: schema.cloned().unwrap_or_else(|| json!({ "type": "object" })),
            is_read_only: tool["annotations"]["readOnlyHint"] == true,
        })
    }
}

fn page_request(cursor: Option<String>) -> ClientRequest {
    // The first page is asked for without parameters: some servers know no others.
    let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
    ClientRequest::ListToolsRequest(ListToolsRequest {
        method: Default::default(),
        params,
        extensions: Default::default(),
    })
}
