// The event as it was recorded. It is made of the line's own text and never of values, so that numbers, the
// order of keys and keys that stand there twice are what they were.
'use strict';

/** The event of a row with the keys of its line, indented. */
function recorded(row) {
  const [seq, type, path, time, payload, more] = piecesOf(lineOf(row));
  const rest = more ? piecesOf(more).flatMap((piece) => (piece.startsWith('"extra":') ? piecesOf(piece.slice(8)) : [piece.replace(/^"child":/, '"child_run_id":')])) : [];
  return indented(asTyped(`{${[`"seq":${seq}`, `"type":${type}`, `"path":${path}`, `"timestamp":${time}`, ...rest, `"payload":${payload}`].join(',')}}`));
}

/** Spells each `<` as itself again. */
const asTyped = (json) => json.replace(/\\(u003c|[^])/g, (escape, code) => (code === 'u003c' ? '<' : escape));

/** The values of an array, or the fields of an object, as they stand in its text. */
function piecesOf(json) {
  const pieces = [];
  let [depth, from] = [0, 1];
  for (let at = 1; at < json.length; at++) {
    const sign = json[at];
    if (sign === '"') at = endOfString(json, at);
    else if (sign === '{' || sign === '[') depth++;
    else if (depth && (sign === '}' || sign === ']')) depth--;
    else if (!depth && (sign === ',' || sign === '}' || sign === ']')) {
      if (at > from) pieces.push(json.slice(from, at));
      from = at + 1;
    }
  }
  return pieces;
}

/** Where the string ends that begins at `at`. */
function endOfString(json, at) {
  for (let end = json.indexOf('"', at + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let before = end;
    while (json[before - 1] === '\\') before--;
    if ((end - before) % 2 === 0) return end;
  }
  return json.length - 1;
}

/** A line for each value; deep nesting would make more blanks than text. */
function indented(json) {
  const parts = [];
  let depth = 0;
  const line = () => `\n${'  '.repeat(Math.min(depth, 16))}`;
  for (let at = 0; at < json.length; at++) {
    const sign = json[at];
    if (sign === '"') {
      const end = endOfString(json, at);
      parts.push(json.slice(at, end + 1));
      at = end;
    } else if ((sign === '{' && json[at + 1] === '}') || (sign === '[' && json[at + 1] === ']')) {
      parts.push(sign, json[++at]);
    } else if (sign === '{' || sign === '[') {
      depth++;
      parts.push(sign, line());
    } else if (sign === '}' || sign === ']') {
      depth--;
      parts.push(line(), sign);
    } else if (sign === ',') parts.push(sign, line());
    else if (sign === ':') parts.push(': ');
    else if (sign.trim()) parts.push(sign);
  }
  return parts.join('');
}
