"""Reads a run in Flow Studio's layout by names alone, and prints what it found as JSON.

The one argument is the folder of the run. Nothing is taken from the view under test: the names of
files are made from what each receipt says, as the layout's documentation has it.
"""

import datetime
import json
import pathlib
import sys


def moment(text):
    assert text.endswith("Z"), text
    return datetime.datetime.fromisoformat(text[:-1] + "+00:00")


def transcript(flow, receipt):
    engine = receipt["engine"].removesuffix("-step")
    name = f"{receipt['step_id']}-{receipt['agent_key']}-{engine}.jsonl"
    path = flow / "llm" / name
    assert path == flow / receipt["transcript_path"], path
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def shown(line):
    assert moment(line["timestamp"]).tzinfo is not None
    if line["role"] != "tool":
        assert sorted(line) == ["content", "role", "timestamp"], line
        return [line["role"], line["content"]]
    assert isinstance(line["tool_input"], dict), line
    known = {"timestamp", "role", "tool_name", "tool_input", "content", "tool_output"}
    assert set(line) <= known, line
    answer = line.get("content", line.get("tool_output"))
    return ["tool", line["tool_name"], answer]


def main(root):
    found = []
    for path in sorted(root.glob("*/receipts/*.json")):
        receipt = json.loads(path.read_text(encoding="utf-8"))
        assert path.name == f"{receipt['step_id']}-{receipt['agent_key']}.json", path
        assert path.parent.parent.name == receipt["flow_key"], path
        assert moment(receipt["started_at"]) <= moment(receipt["completed_at"]), path
        tokens = receipt["tokens"]
        assert tokens["prompt"] + tokens["completion"] == tokens["total"], path
        lines = [shown(line) for line in transcript(path.parent.parent, receipt)]
        found.append([receipt["step_id"], receipt["agent_key"], receipt["status"], lines])
    numbers, begun, open_now = [], set(), set()
    for line in (root / "events.jsonl").read_text(encoding="utf-8").split("\n")[:-1]:
        event = json.loads(line)
        numbers.append(event["seq"])
        assert {"event_id", "run_id", "ts", "kind", "flow_key", "payload"} <= set(event), event
        if event["kind"] == "step_start":
            assert event["step_id"] not in open_now, event
            begun.add(event["step_id"])
            open_now.add(event["step_id"])
        if event["kind"] == "step_end":
            assert event["step_id"] in begun, event
            open_now.discard(event["step_id"])
    assert numbers == list(range(1, len(numbers) + 1)), numbers
    json.dump(found, sys.stdout)


main(pathlib.Path(sys.argv[1]))
