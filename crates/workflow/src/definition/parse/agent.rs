//! Agent steps: whom to ask, what, and how the answer is read.

use super::fields::Fields;
use super::flow::blank;
use super::notes::{Moment, Role};
use super::reader::Reader;
use super::{mcp_proxy, values};
use crate::definition::library::NamedFile;
use crate::definition::problem::Problem;
use crate::definition::suggest::{did_you_mean, one_of};
use crate::definition::yaml::{Content, Node};
use crate::definition::{
    AgentMode, AgentStep, ConversationStep, OutputFormat, PromptText, Skill, StepKind,
};
use crate::language::Template;

/// The providers that there are.
const PROVIDERS: [&str; 7] =
    ["claude", "codex", "gemini", "github_copilot", "opencode", "openai_compatible", "stub"];
const MODES: [(&str, AgentMode); 2] =
    [("single", AgentMode::Single), ("conversation", AgentMode::Conversation)];
const FORMATS: [(&str, OutputFormat); 2] =
    [("json", OutputFormat::Json), ("text", OutputFormat::Text)];

/// Reads what an agent step has of its own.
pub(super) fn read(reader: &mut Reader, fields: &mut Fields<'_>) -> StepKind {
    let provider = read_provider(reader, fields);
    let command = fields.take("command").and_then(|node| read_command(reader, node));
    let mode = fields.word(reader, "mode", &MODES).unwrap_or_default();
    let prompt = read_prompt(reader, fields, mode);
    StepKind::Agent(AgentStep {
        provider,
        command,
        prompt,
        mode,
        system_prompt: fields.template(reader, "system_prompt"),
        role: fields
            .take("role")
            .and_then(|node| reader.file_template("`role`", node, NamedFile::Role)),
        skills: fields.take("skills").map(|node| read_skills(reader, node)).unwrap_or_default(),
        options: values::read_map(reader, fields, "options"),
        output_format: fields.word(reader, "output_format", &FORMATS),
        conversation: fields.take("conversation").and_then(|node| read_conversation(reader, node)),
        mcp_proxy: fields.take("mcp_proxy").map(|node| mcp_proxy::read(reader, node)),
    })
}

/// A provider that is not known is no error before it is asked: a stub can answer in its place.
fn read_provider(reader: &mut Reader, fields: &mut Fields<'_>) -> Template {
    let Some(node) = fields.take("provider") else {
        fields.missing(reader, "provider", &one_of(PROVIDERS));
        return blank();
    };
    let Some(provider) = reader.template("`provider`", node) else { return blank() };
    if provider.is_literal() && !PROVIDERS.contains(&provider.source()) {
        let message = format!("`{}` is no provider that can be asked", provider.source());
        let problem = Problem::warning(&node.place, message).expected(one_of(PROVIDERS));
        reader.problems.push(problem.hint(did_you_mean(provider.source(), PROVIDERS)));
    }
    provider
}

/// Reads the program that stands for the provider's own: a list, or one line of words.
fn read_command(reader: &mut Reader, node: &Node) -> Option<Vec<Template>> {
    let words: Vec<Template> = match &node.content {
        Content::Sequence(items) => {
            items.iter().filter_map(|item| reader.template("`command`", item)).collect()
        }
        _ => {
            let line = reader.template("`command`", node)?;
            if line.is_literal() {
                let words = line.source().split_whitespace();
                words.filter_map(|word| Template::parse(word).ok()).collect()
            } else {
                vec![line]
            }
        }
    };
    if words.is_empty() {
        reader.error(&node.place, "`command` is empty", "a program and its first arguments");
        return None;
    }
    Some(words)
}

fn read_prompt(reader: &mut Reader, fields: &mut Fields<'_>, mode: AgentMode) -> PromptText {
    let (prompt, file) = (fields.entry("prompt"), fields.entry("prompt_file"));
    let read = match (prompt, file) {
        (Some(entry), None) => reader.template("`prompt`", &entry.value).map(PromptText::Inline),
        (None, Some(entry)) if mode == AgentMode::Conversation => {
            let message = "a conversation cannot begin with a `prompt_file`";
            reader.error(&entry.key_place, message, "`prompt`");
            None
        }
        (None, Some(entry)) => {
            let file = reader.file_template("`prompt_file`", &entry.value, NamedFile::Text);
            file.map(PromptText::File)
        }
        (Some(_), Some(entry)) => {
            let message = "the step has both `prompt` and `prompt_file`";
            reader.error(&entry.key_place, message, "one of them");
            None
        }
        (None, None) => {
            let message = format!("{} has neither `prompt` nor `prompt_file`", fields.of);
            let expected = "`prompt` with a text, or `prompt_file` with the path of one";
            reader.error(&fields.place, message, expected);
            None
        }
    };
    read.unwrap_or_else(|| PromptText::Inline(blank()))
}

fn read_skills(reader: &mut Reader, node: &Node) -> Vec<Skill> {
    let Content::Sequence(items) = &node.content else {
        let message = format!("`skills` is {}", node.describe());
        reader.error(&node.place, message, "a list of names and `{path: …}`");
        return Vec::new();
    };
    items.iter().filter_map(|item| read_skill(reader, item)).collect()
}

fn read_skill(reader: &mut Reader, node: &Node) -> Option<Skill> {
    if node.scalar().is_some() {
        return reader.file_template("a skill", node, NamedFile::Skill).map(Skill::Named);
    }
    let mut fields = Fields::of(reader, "a skill", node)?;
    let path = fields
        .take("path")
        .and_then(|node| reader.file_template("`path`", node, NamedFile::SkillAt));
    let name =
        fields.take("name").and_then(|node| reader.file_template("`name`", node, NamedFile::Skill));
    if path.is_none() && name.is_none() {
        fields.missing(reader, "path", "the path of a skill, or its name");
    }
    fields.finish(reader);
    path.map(Skill::At).or(name.map(Skill::Named))
}

fn read_conversation(reader: &mut Reader, node: &Node) -> Option<ConversationStep> {
    let mut fields = Fields::of(reader, "`conversation`", node)?;
    let continue_from = fields.take("continue_from").and_then(|node| {
        let name = reader.text("`continue_from`", node)?;
        reader.target(&name, &node.place, Role::Session);
        Some(name)
    });
    let max_turns = fields.whole(reader, "max_turns", 1, i64::from(u32::MAX));
    reader.moment = Moment::Turn;
    let stop_condition = fields.expression(reader, "stop_condition");
    reader.moment = Moment::Before;
    fields.finish(reader);
    let max_turns = max_turns.and_then(|turns| u32::try_from(turns).ok());
    Some(ConversationStep { continue_from, max_turns, stop_condition })
}
