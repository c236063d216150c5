// The list of runs: sorting and filtering. Each run keeps the runs that it called below it.
'use strict';

const body = document.getElementById('runs');
const filter = document.getElementById('filter');
const counter = document.getElementById('count');
const heads = [...document.querySelectorAll('th')];
const all = [...body.rows];
const families = [];
for (const row of all) {
  if (row.dataset.depth === '0' || !families.length) families.push([row]);
  else families[families.length - 1].push(row);
}

function sortBy(key, falling) {
  const number = ['took', 'tokens', 'events'].includes(key);
  const value = (family) => (number ? Number(family[0].dataset[key] || -1) : family[0].dataset[key] || '');
  families.sort((a, b) => {
    const [one, other] = [value(a), value(b)];
    const order = number ? one - other : one < other ? -1 : one > other ? 1 : 0;
    return falling ? -order : order;
  });
  body.append(...families.flat());
  for (const head of heads) {
    if (head.dataset.by === key) head.setAttribute('aria-sort', falling ? 'descending' : 'ascending');
    else head.removeAttribute('aria-sort');
  }
}

for (const head of heads) {
  head.firstElementChild.onclick = () => {
    const order = head.getAttribute('aria-sort');
    sortBy(head.dataset.by, order ? order === 'ascending' : !['name', 'status', 'model'].includes(head.dataset.by));
  };
}

/** A run that matches is shown with everything around it: the runs it called and the one that called it. */
filter.addEventListener('input', () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const family of families) {
    const matches = family.some((row) => words.every((word) => row.textContent.toLowerCase().includes(word)));
    for (const row of family) row.hidden = !matches;
    if (matches) shown += family.length;
  }
  counter.textContent = shown === all.length ? `${all.length}` : `${shown} of ${all.length}`;
});

document.getElementById('theme').onclick = () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  try { localStorage.setItem('quipu-theme', root.dataset.theme); } catch { /* A page from a disk may not be allowed to remember. */ }
};
try { document.documentElement.dataset.theme = localStorage.getItem('quipu-theme') || ''; } catch { /* The system decides. */ }
