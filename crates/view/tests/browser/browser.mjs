// A browser of this machine, spoken to through a pipe in its own protocol. Nothing needs to be installed
// beside it. It loads pages from the disk only; whatever else a page asks for is remembered as a fault.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class Browser {
  /** Starts the program at `path`. */
  static start(path) {
    const profile = mkdtempSync(join(tmpdir(), 'quipu-browser-'));
    const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-extensions',
      '--disable-background-networking', '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'];
    const program = spawn(path, flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    return new Browser(program, profile);
  }

  constructor(program, profile) {
    Object.assign(this, { program, profile, asked: new Map(), listeners: [], number: 0, rest: '' });
    program.on('exit', () => this.asked.forEach(({ reject }) => reject(new Error('the browser ended'))));
    program.stdio[3].on('error', () => {});
    program.stdio[4].on('data', (bytes) => this.#take(bytes.toString('utf8')));
  }

  #take(text) {
    const messages = (this.rest + text).split('\0');
    this.rest = messages.pop();
    for (const message of messages.map((part) => JSON.parse(part))) {
      const asked = this.asked.get(message.id);
      this.asked.delete(message.id);
      if (asked && message.error) asked.reject(new Error(`${asked.method}: ${message.error.message}`));
      else if (asked) asked.resolve(message.result);
      else this.listeners.forEach((listen) => listen(message));
    }
  }

  send(method, params = {}, sessionId) {
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve, reject, method });
      this.program.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  /** Opens a page in a window of its own. */
  async open(url, { width = 1280, height = 800, dark = false } = {}) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await page.send(`${domain}.enable`);
    await page.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    await page.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
    await page.send('Page.navigate', { url });
    return page;
  }

  async close() {
    await this.send('Browser.close').catch(() => {});
    await new Promise((resolve) => (this.program.exitCode === null ? this.program.on('exit', resolve) : resolve()));
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Page {
  /** What went wrong in the page: errors, breaches of its policy, dialogs, requests to anywhere. */
  faults = [];

  constructor(browser, session, target) {
    Object.assign(this, { browser, session, target });
    browser.listeners.push((message) => message.sessionId === session && this.#note(message));
  }

  #note({ method, params }) {
    if (method === 'Runtime.exceptionThrown') this.faults.push(`exception: ${params.exceptionDetails.exception?.description || params.exceptionDetails.text}`);
    if (method === 'Log.entryAdded' && params.entry.level === 'error') this.faults.push(`logged: ${params.entry.text}`);
    if (method === 'Page.javascriptDialogOpening') this.faults.push(`dialog: ${params.message}`);
    if (method === 'Network.requestWillBeSent' && !params.request.url.startsWith('file:')) this.faults.push(`request: ${params.request.url}`);
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  /** Returns what an expression comes to in the page. */
  async get(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description || exceptionDetails.text}`);
    return result.value;
  }

  /** Waits until an expression is true. */
  async until(expression) {
    const end = Date.now() + 120_000;
    while (Date.now() < end) {
      if (await this.get(`Boolean(${expression})`).catch(() => false)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`never came true: ${expression}`);
  }

  async press(key) {
    for (const type of ['keyDown', 'keyUp']) await this.send('Input.dispatchKeyEvent', { type, key, text: type === 'keyUp' ? undefined : key === 'Enter' ? '\r' : key.length === 1 ? key : undefined });
    await this.settle();
  }

  async wheel(deltaY) {
    await this.send('Input.dispatchMouseEvent', { type: 'mouseWheel', x: 700, y: 500, deltaX: 0, deltaY });
    await this.settle();
  }

  /** Lets the page draw. */
  settle() {
    return this.get('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 30))))');
  }
}
