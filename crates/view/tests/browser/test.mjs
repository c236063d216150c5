// What the pages do in a browser. Run by the crate's tests: `node test.mjs BROWSER DIRECTORY`, where the
// directory holds the pages that those tests have made. Every line that is printed is one thing that holds.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { Browser } from './browser.mjs';

const [, , program, directory] = process.argv;
const at = (file, hash = '') => pathToFileURL(join(directory, file)).href + hash;
const browser = Browser.start(program);
const READY = "document.documentElement.dataset.ready === 'true'";

async function holds(promise, file, options, check) {
  const page = await browser.open(at(file, options.hash), options);
  if (!options.list) await page.until(READY);
  await check(page);
  assert.deepEqual(page.faults, [], promise);
  await browser.send('Target.closeTarget', { targetId: page.target });
  console.log(`ok: ${promise}`);
}

/** Shows every row once, with everything unfolded, and returns what could not be shown. */
const SHOW_ALL = `(async () => {
  setView('all');
  const faults = [];
  for (const row of rows) {
    opened.set(row.n, new Set(['*', 'json']));
    goTo(row);
    const text = drawn.get(row.n)?.textContent || '';
    if (!text.includes('#' + row.seq)) faults.push(row.seq);
  }
  await new Promise((resolve) => requestAnimationFrame(resolve));
  return faults;
})()`;

try {
  await holds('a hostile run is shown and obeyed by nothing', 'hostile.html', {}, async (page) => {
    assert.deepEqual(await page.get(SHOW_ALL), []);
    assert.equal(await page.get('window.pwned'), undefined);
    assert.equal(await page.get("document.querySelectorAll('img, svg, iframe, object, embed, form:not(#search), main script').length"), 0);
    const schemes = await page.get('[...new Set([...document.links].map((a) => a.protocol))]');
    assert.deepEqual(schemes.filter((scheme) => !['file:', 'http:', 'https:'].includes(scheme)), []);
    assert.match(await page.get("document.getElementById('name').textContent"), /<\/script>/);
  });

  await holds('a long error shows its beginning', 'hostile.html', {}, async (page) => {
    await page.press('G');
    await page.settle();
    const shown = await page.get("document.querySelector('#event-20').textContent");
    assert.ok(shown.includes('mmm') && shown.includes('Show all') && shown.length < 50_000, `${shown.length}`);
  });

  await holds('one of everything can be shown', 'run.html', {}, async (page) => {
    assert.deepEqual(await page.get(SHOW_ALL), []);
    const text = await page.get("(() => { setView('talk'); return rows.map((row) => draw(row).textContent).join('\\n'); })()");
    for (const said of ['It is read once.', 'not allowed', 'exit code 2', 'outside the root', 'future.thing', '12345678901234567890', 'try later', 'no such type', 'fn a() {}']) {
      assert.ok(text.includes(said), said);
    }
    assert.equal(await page.get("document.querySelector('a[href=\"./team:child-1.html\"]') !== null || (goTo(bySeq.get(21)), document.querySelector('a[href=\"./team:child-1.html\"]') !== null)"), true);
  });

  await holds('thinking is folded until it is asked for', 'run.html', {}, async (page) => {
    const shown = "document.getElementById('rows').textContent.includes('Where is it read?')";
    await page.get('goTo(bySeq.get(10))');
    assert.equal(await page.get(shown), false);
    await page.press('t');
    assert.equal(await page.get(shown), true);
    await page.get("document.querySelector('#event-10 .fold button').click()");
    assert.equal(await page.get(shown), false);
  });

  await holds('tools and tokens have tables, and nobody is told a cost that nobody named', 'run.html', {}, async (page) => {
    await page.get("document.querySelector('[data-view=tools]').click()");
    assert.match(await page.get("document.querySelector('table').innerText"), /Bash\s+1\s+1/);
    await page.get("document.querySelector('[data-view=cost]').click()");
    const cost = await page.get("document.querySelector('table').innerText");
    assert.match(cost, /opus\s+1,200\s+34\s+–\s+–\s+–\s+\$0\.0125/);
    assert.match(cost, /haiku\s+10\s+–\s+–\s+–\s+–\s+unknown/);
  });

  await holds('the tree leads to its steps', 'run.html', {}, async (page) => {
    const names = await page.get("[...document.querySelectorAll('#tree .go')].map((go) => go.firstChild.data)");
    assert.deepEqual(names, ['each', 'iteration 0', 'iteration 1', 'talk', 'publish']);
    await page.get("[...document.querySelectorAll('#tree .go')][3].click()");
    assert.equal(await page.get('rows[view.target].seq'), 8);
  });

  await holds('a hundred thousand events leave the document small', 'long.html', {}, async (page) => {
    const events = await page.get('rows.length');
    assert.equal(events, 100_000);
    const few = async () => assert.ok(await page.get("document.querySelectorAll('*').length") < 3000);
    await few();
    await page.press('G');
    await few();
    const inSight = `[...document.querySelectorAll('.row')].filter((row) => { const box = row.getBoundingClientRect(); return box.bottom > list.getBoundingClientRect().top && box.top < innerHeight; }).map((row) => Number(row.id.slice(6)))`;
    assert.ok((await page.get(inSight)).includes(events));
    const before = await page.get(inSight);
    await page.wheel(-300);
    const after = await page.get(inSight);
    assert.ok(after[0] < before[0] && after[0] > before[0] - 40, `${before} then ${after}`);
    await page.get('list.scrollTop = list.scrollHeight / 2');
    await page.settle();
    const [middle] = await page.get(inSight);
    assert.ok(middle > 30_000 && middle < 70_000, `${middle} is in the middle`);
    await few();
  });

  await holds('a link leads to its event', 'long.html', { hash: '#e54321' }, async (page) => {
    const top = "document.querySelector('.row.target').getBoundingClientRect().top - list.getBoundingClientRect().top";
    assert.equal(await page.get("document.querySelector('.row.target').id"), 'event-54321');
    const offset = await page.get(top);
    assert.ok(offset >= 0 && offset < 300, `${offset}`);
    await page.get("location.hash = '#e7'");
    await page.settle();
    assert.equal(await page.get("document.querySelector('.row.target').id"), 'event-7');
    await page.press('j');
    assert.equal(await page.get('location.hash'), '#e8');
  });

  await holds('search finds what is far out of sight', 'long.html', {}, async (page) => {
    await page.get("query.value = 'the Last NEEDLE'; startSearch()");
    await page.until('search.next === rows.length');
    assert.equal(await page.get('found.textContent'), '1');
    await page.get("document.getElementById('search').requestSubmit()");
    await page.settle();
    assert.equal(await page.get('found.textContent'), '1 of 1');
    assert.equal(await page.get('rows[view.target].seq'), 99_999);
    assert.equal(await page.get("CSS.highlights.get('found-now').size"), 1);
    await page.get("query.value = 'case 4321 '; document.getElementById('search').requestSubmit()");
    await page.until('search.now >= 0');
    assert.match(await page.get('found.textContent'), /^1 of /, 'what was typed a moment ago is gone to');
    await page.get("query.value = 'case 99'; startSearch()");
    await page.until('search.next === rows.length');
    assert.ok(await page.get('search.hits.length') > 0);
    await page.get('step(1)');
    const first = await page.get('search.now');
    await page.get('step(1)');
    await page.get('step(-1)');
    assert.equal(await page.get('search.now'), first);
    await page.get("query.value = 'nowhere at all'; startSearch()");
    await page.until('search.next === rows.length');
    assert.equal(await page.get('found.textContent'), 'not found');
  });

  await holds('what goes wrong late in a long loop is told by the loop', 'odd.html', {}, async (page) => {
    const labels = "[...document.querySelectorAll('#tree [role=treeitem]')].map((item) => item.getAttribute('aria-label'))";
    const told = await page.get(labels);
    assert.ok(told.includes('each, failed') && told.includes('twice, succeeded'), `${told}`);
  });

  await holds('an event is shown as it was recorded', 'odd.html', {}, async (page) => {
    const shown = JSON.parse(await page.get('JSON.stringify(recorded(bySeq.get(1)))'));
    assert.equal(shown, ['{', '  "seq": 1,', '  "type": "odd",', '  "path": "p",', '  "timestamp": "2026-01-01T00:00:01.000000Z",', '  "source": "<s>",',
      '  "child_run_id": "index",', '  "later": [', '    1.0', '  ],', '  "payload": {', '    "b": 1.10,', '    "a": 1e400,', '    "2": {},', '    "1": "\\\\u003c\\"<"', '  }', '}'].join('\n'));
  });

  await holds('a call is that of its own attempt', 'odd.html', {}, async (page) => {
    const link = (type, nth) => `draw(rows.filter((row) => row.path === 'twice' && row.type === '${type}')[${nth}]).querySelector('.remark a').textContent`;
    const calls = await page.get("rows.filter((row) => row.type === 'tool.call').map((row) => '#' + row.seq)");
    assert.deepEqual([await page.get(link('message.assistant', 0)), await page.get(link('message.assistant', 1))], calls);
  });

  await holds('a cost that is known in part is told as such', 'odd.html', {}, async (page) => {
    await page.get("setView('cost')");
    assert.match(await page.get("document.querySelector('table').innerText"), /all\s+2\s+–\s+–\s+–\s+–\s+≥ \$0\.5000/);
    await page.get("setView('tools')");
    await page.press('j');
    assert.equal(await page.get("rows[view.target]?.type"), 'tool.call', 'the first event below the table');
  });

  await holds('search knows the names of arguments and not the words of the format', 'odd.html', {}, async (page) => {
    const types = async (text) => {
      await page.get(`query.value = '${text}'; startSearch()`);
      await page.until('search.next === rows.length');
      return page.get('[...new Set(search.hits.map((row) => row.type))]');
    };
    assert.deepEqual(await types('File_Path'), ['message.assistant', 'tool.call']);
    assert.deepEqual(await types('tool_name'), []);
  });

  await holds('enter goes to what was typed just now', 'odd.html', {}, async (page) => {
    await page.get('query.focus()');
    await page.send('Input.insertText', { text: 'file_path' });
    await page.press('Enter');
    assert.match(await page.get('found.textContent'), /^1 of /);
  });

  await holds('a phone shows it without scrolling sideways', 'run.html', { width: 390, height: 844 }, async (page) => {
    assert.deepEqual(await page.get(SHOW_ALL), []);
    assert.ok(await page.get('document.documentElement.scrollWidth') <= 390);
    assert.ok(await page.get('list.scrollWidth') <= 390);
    assert.equal(await page.get("getComputedStyle(document.getElementById('side')).display"), 'none');
    await page.get("document.getElementById('menu').click()");
    assert.equal(await page.get("getComputedStyle(document.getElementById('side')).display"), 'block');
  });

  const paper = 'getComputedStyle(document.body).backgroundColor';
  let light;
  await holds('it is light', 'run.html', {}, async (page) => { light = await page.get(paper); });
  await holds('it is dark where the system is, and the other when asked', 'run.html', { dark: true }, async (page) => {
    assert.notEqual(await page.get(paper), light);
    await page.get("document.getElementById('theme').click()");
    assert.equal(await page.get(paper), light);
    await page.get("localStorage.removeItem('quipu-theme')");
  });

  await holds('the list of runs is sorted and filtered', 'index.html', { list: true }, async (page) => {
    await page.until("document.querySelector('#runs tr')");
    const names = "[...document.querySelectorAll('#runs tr:not([hidden]) a')].map((a) => a.textContent)";
    assert.deepEqual(await page.get(names), ['zebra', 'child of zebra', 'apple']);
    await page.get("document.querySelector('[data-by=name] button').click()");
    assert.deepEqual(await page.get(names), ['apple', 'zebra', 'child of zebra']);
    await page.get("filter.value = 'CHILD'; filter.dispatchEvent(new Event('input'))");
    assert.deepEqual(await page.get(names), ['zebra', 'child of zebra']);
  });
} finally {
  await browser.close();
}
