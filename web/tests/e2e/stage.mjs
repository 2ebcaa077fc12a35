// What a journey is handed: a page whose console is watched, and the few moves that journeys are made of.
//
// Nothing here sleeps. Whatever has to be waited for is a condition with a deadline, looked at once per animation frame
// of the page; when the deadline is over, the error names what was missing and what was seen last.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const DEADLINE_MS = 10_000;
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** One journey's browser context and everything that went wrong in its pages. */
export class Stage {
  /** The address of the page under test, ending in a slash. */
  url;
  /** The first page; `newPage()` makes more. */
  page;
  /** The browser context, for clipboard rights, offline mode and the like. */
  context;
  /** Node's strict assertions. */
  assert = assert;
  #problems = [];
  #tolerated = [];

  /** Opens a fresh context with one empty page; `open()` loads the playground. */
  static async start(browser, url) {
    const stage = new Stage();
    stage.url = url;
    stage.context = await browser.newContext({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 });
    stage.page = await stage.newPage();
    return stage;
  }

  /** Makes another page in the same context, watched like the first. */
  async newPage() {
    const page = await this.context.newPage();
    page.on('console', (message) => {
      const kind = message.type();
      if (kind === 'error' || kind === 'warning') {
        this.#note(`console ${kind}: ${message.text()} (${message.location().url || 'no place'})`);
      }
    });
    page.on('pageerror', (error) => this.#note(`uncaught: ${error.stack ?? error}`));
    page.on('crash', () => this.#note('the page crashed'));
    page.on('response', (response) => {
      if (response.status() >= 400) this.#note(`${response.status()}: ${response.url()}`);
    });
    return page;
  }

  #note(problem) {
    this.#problems.push(problem);
  }

  /** Lets problems that match `pattern` pass, since this journey provokes them; `why` is for the reader. */
  tolerate(pattern, why) {
    assert.ok(why, 'tolerate() needs a reason');
    this.#tolerated.push(pattern);
  }

  /** The console errors and warnings, uncaught errors and failed requests so far, but for the tolerated ones. */
  problems() {
    return this.#problems.filter((problem) => !this.#tolerated.some((pattern) => pattern.test(problem)));
  }

  /** Loads the playground and waits until it is ready; `suffix` is a query or a fragment, as `#s=…`. */
  async open(suffix = '') {
    await this.page.goto(this.url + suffix);
    await this.until('app-root to be ready', async () => {
      const ready = await this.page.getByTestId('app-root').getAttribute('data-ready', { timeout: 1000 }).catch(() => null);
      return [ready === 'true', `data-ready is ${ready}`];
    }, { deadline_ms: 30_000 });
  }

  /**
   * Waits until `check` holds. It returns a boolean, or `[boolean, what it saw]`; the latter is in the error.
   * Resolves to what it saw last.
   */
  async until(what, check, { deadline_ms = DEADLINE_MS, page = this.page } = {}) {
    const start = performance.now();
    const left = () => deadline_ms - (performance.now() - start);
    let seen;
    while (left() > 0) {
      const result = await within(left(), check(), `${what}: the check itself did not end`);
      const [holds, saw] = Array.isArray(result) ? result : [result, result];
      seen = saw;
      if (holds) return seen;
      await within(Math.max(left(), 1000), nextFrame(page), `${what}: the page draws no frames`);
    }
    throw new Error(`waited ${deadline_ms} ms for ${what}; last seen: ${JSON.stringify(seen)}`);
  }

  /** Waits until `predicate(value)` holds for the value of the page's `window.footlights[method]()`. */
  async untilFootlights(what, method, predicate, options = {}) {
    return this.until(what, async () => {
      const value = await this.footlights(method);
      return [predicate(value), value];
    }, options);
  }

  /** Calls a method of the page's `window.footlights`: `state`, `ledger` or `logHash`; fails where it is not there. */
  async footlights(method) {
    return this.page.evaluate((name) => {
      if (!window.footlights) throw new Error('window.footlights is not there');
      return window.footlights[name]();
    }, method);
  }

  /** The element with this `data-testid`. */
  byId(testid) {
    return this.page.getByTestId(testid);
  }

  /** The middle of `target` in page coordinates: a test id, a locator, or a point, which is handed back. */
  async centre(target) {
    if (typeof target === 'object' && 'x' in target && 'y' in target) return target;
    const locator = typeof target === 'string' ? this.byId(target) : target;
    await locator.scrollIntoViewIfNeeded();
    const box = await locator.boundingBox();
    assert.ok(box, `${target} has no box: it is not visible`);
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  }

  /** Drags with the mouse, in `steps` moves, from one test id, locator or point to another. */
  async drag(from, to, { steps = 12 } = {}) {
    const start = await this.centre(from);
    const end = await this.centre(to);
    await this.page.mouse.move(start.x, start.y);
    await this.page.mouse.down();
    await this.page.mouse.move(end.x, end.y, { steps });
    await this.page.mouse.up();
  }

  /** Counts the animation frames that the page draws in `duration_ms` of its own clock; for frame-rate promises. */
  async framesIn(duration_ms) {
    return this.page.evaluate((duration) => new Promise((resolve) => {
      const start = performance.now();
      let frames = 0;
      const count = (now) => (now - start >= duration ? resolve(frames) : (frames++, requestAnimationFrame(count)));
      requestAnimationFrame(count);
    }), duration_ms);
  }

  /** Fails with the list of what axe-core finds against WCAG 2.2 A and AA in `selector` (default: the whole page). */
  async accessible(selector = 'html', { disabled = [] } = {}) {
    if (!(await this.page.evaluate(() => 'axe' in window))) {
      await this.page.evaluate(await readFile(AXE, 'utf8'));
    }
    const violations = await this.page.evaluate(async ([root, rules]) => {
      const result = await window.axe.run(root, {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
        rules: Object.fromEntries(rules.map((rule) => [rule, { enabled: false }])),
      });
      return result.violations.map(({ id, help, nodes }) => `${id}: ${help} (${nodes.map((node) => node.target).join('; ')})`);
    }, [selector, disabled]);
    assert.deepEqual(violations, [], 'axe-core finds no violation');
  }
}

/** Resolves when the page draws its next frame; a hidden page draws none, so a timer of the page helps it out. */
function nextFrame(page) {
  return page.evaluate(() => new Promise((resolve) => {
    requestAnimationFrame(resolve);
    setTimeout(resolve, 250);
  }));
}

/** Rejects with `message` where `promise` takes longer than `limit_ms`. */
export async function within(limit_ms, promise, message) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${message} (after ${Math.round(limit_ms)} ms)`)), limit_ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
