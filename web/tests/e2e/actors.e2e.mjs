// What actors can be told in the inspector, by mouse and by keyboard, and what they then decide, read in the why log.

import { emptyCanvas, fullSpeed, place, play, select, set, wire } from './moves.mjs';

export const deadline_ms = 90_000;

/** Chooses in a list of the inspector with the mouse. */
async function pick(stage, field, value) {
  await stage.byId(field).selectOption(value);
  await stage.until(`${field} to be ${value}`, async () => (await stage.byId(field).inputValue()) === value);
}

/** Chooses in a list of the inspector by its first letters, as one types. */
async function type(stage, field, letters, value) {
  await stage.byId(field).focus();
  await stage.page.keyboard.type(letters);
  await stage.page.keyboard.press('Tab');
  await stage.until(`${field} to be ${value}`, async () => (await stage.byId(field).inputValue()) === value);
}

/** Waits for a line of the why log; gives its text. */
async function reads(stage, what, pattern) {
  if ((await stage.byId('dock-tab-why').getAttribute('aria-selected')) !== 'true') await stage.byId('dock-tab-why').click();
  return stage.until(what, async () => {
    const lines = await stage.byId('why-log').locator('li').allTextContents();
    const line = lines.find((text) => pattern.test(text));
    return [line !== undefined, line ?? lines.slice(0, 5)];
  }, { deadline_ms: 30_000 });
}

/** Opens a scenario that ships, by its title, and stands at turn 0. */
async function open(stage, title) {
  await stage.open();
  const option = stage.byId('lesson-picker').locator('option').filter({ hasText: title }).first();
  await stage.byId('lesson-picker').selectOption(await option.getAttribute('value'));
  await stage.byId('reset').click();
  await stage.untilFootlights(`${title} at turn 0`, 'state', (s) => s.mode === 'paused' && s.turn === 0);
}

/** Waits for the new run that an edit asked for. */
async function newRun(stage, before) {
  await stage.untilFootlights('a new run', 'state', (s) => s.run !== null && s.run > before && s.problems.length === 0);
}

export const tests = {
  async a_window_and_a_rule_are_set_by_mouse_and_the_decisions_carry_their_numbers(stage) {
    await open(stage, 'Let it crash');
    const { run } = await stage.footlights('state');
    await select(stage, 'crew');
    await pick(stage, 'param-window', 'gap');
    await pick(stage, 'param-strategy', 'rest_for_one');
    await set(stage, 'crew', 'param-max_restarts', 1);
    await stage.byId('param-rules-add').click();
    await pick(stage, 'param-rules-0-on', 'killed');
    await newRun(stage, run);
    await fullSpeed(stage);
    await play(stage);
    await reads(stage, 'a restart counted by the gap window', /restart 1 of 1 allowed without a pause over 5,?000(\.000)? ms/);
    const line = stage.byId('why-log').locator('li').filter({ hasText: 'allowed without a pause' }).first();
    const label = await line.locator('button').textContent();
    await line.locator('button').click();
    const { selected, nodes } = await stage.footlights('state');
    stage.assert.equal(nodes.find((n) => n.id === selected[0]).label || selected[0], label, 'a click selects the node');
    await stage.accessible();
  },

  async a_router_kind_is_set_by_keyboard_and_each_choice_says_why(stage) {
    await open(stage, 'Let it crash');
    const { run } = await stage.footlights('state');
    await stage.byId('node-router').focus();
    await stage.page.keyboard.press('Enter');
    await type(stage, 'param-logic', 'Consis', 'consistent_hash');
    await newRun(stage, run);
    await play(stage);
    await reads(stage, 'a choice by key', /to worker-\d: the place [0-9a-f]{16} on the ring is its own/);
    await stage.byId('inspector-tab-stats').click();
    await stage.until('choices per routee', async () => {
      const text = await stage.byId('inspector').textContent();
      return [/chose worker-1/.test(text) && /last choice/.test(text), text.slice(0, 400)];
    });
    await stage.accessible();
  },

  async a_full_mailbox_set_by_mouse_says_what_it_dropped(stage) {
    await emptyCanvas(stage);
    const source = await place(stage, 'source', -250, 0);
    const worker = await place(stage, 'worker', 50, 0);
    const sink = await place(stage, 'collector', 300, 0);
    await wire(stage, `${source}.out`, `${worker}.in`);
    await wire(stage, `${worker}.out`, `${sink}.in`);
    await set(stage, worker, 'param-mean_ms', 500);
    await set(stage, worker, 'param-mailbox', 2);
    await pick(stage, 'param-overflow', 'drop_oldest');
    await fullSpeed(stage);
    await play(stage);
    await reads(stage, 'an evicted message', /message \S+ dropped: .*evicted/);
    await stage.byId('inspector-tab-stats').click();
    await stage.until('the policy', async () => /drop oldest/.test(await stage.byId('inspector').textContent()));
  },

  async a_dispatcher_is_made_and_given_and_blocking_the_shared_one_is_told_of(stage) {
    await open(stage, 'Let it crash');
    const { run } = await stage.footlights('state');
    await stage.byId('dispatchers-add').click();
    await stage.byId('dispatchers-0-name').fill('calm');
    await stage.byId('dispatchers-0-name').press('Enter');
    await stage.byId('dispatchers-0-workers').fill('2');
    await stage.byId('dispatchers-0-workers').press('Enter');
    await stage.byId('dispatchers-0-workers').blur();
    await select(stage, 'worker-1');
    await pick(stage, 'param-dispatcher', 'calm');
    await select(stage, 'worker-2');
    await pick(stage, 'param-cost', 'block');
    await newRun(stage, run);
    await fullSpeed(stage);
    await play(stage);
    await reads(stage, 'the lint', /worker-2 a run blocks a worker that others share/);
    await select(stage, 'worker-1');
    await stage.byId('inspector-tab-stats').click();
    await stage.until('its dispatcher', async () => (await stage.byId('stat-dispatcher').textContent()).includes('calm'));
    // A name that a node bears follows when it is changed; when the row goes, the node goes back.
    await stage.page.keyboard.press('Escape');
    await stage.byId('canvas').click({ position: { x: 8, y: 8 } });
    await stage.byId('dispatchers-0-name').fill('quiet');
    await stage.byId('dispatchers-0-name').press('Enter');
    await stage.byId('dispatchers-0-name').blur();
    await select(stage, 'worker-1');
    await stage.byId('inspector-tab-params').click();
    stage.assert.equal(await stage.byId('param-dispatcher').inputValue(), 'quiet');
    stage.assert.deepEqual((await stage.footlights('state')).problems, []);
  },

  async a_machine_is_drawn_and_its_transitions_are_read(stage) {
    await emptyCanvas(stage);
    const source = await place(stage, 'source', -250, 0);
    const machine = await place(stage, 'machine', 100, 0);
    await wire(stage, `${source}.out`, `${machine}.in`);
    await select(stage, machine);
    for (const [row, name] of [[0, 'day'], [1, 'night']]) {
      await stage.byId('param-states-add').click();
      await stage.byId(`param-states-${row}-name`).fill(name);
      await stage.byId(`param-states-${row}-name`).press('Enter');
    }
    await set(stage, machine, 'param-initial', 'day');
    await pick(stage, 'param-states-1-does', 'postpone');
    await stage.byId('param-states-1-after_ms').fill('400');
    await stage.byId('param-states-1-after_ms').press('Enter');
    await stage.byId('param-states-1-after_to').fill('day');
    await stage.byId('param-states-1-after_to').press('Enter');
    await stage.byId('param-transitions-add').click();
    await pick(stage, 'param-transitions-0-on', 'nth');
    for (const [field, value] of [['n', '5'], ['from', 'day'], ['to', 'night']]) {
      await stage.byId(`param-transitions-0-${field}`).fill(value);
      await stage.byId(`param-transitions-0-${field}`).press('Enter');
    }
    await stage.byId('param-transitions-0-to').blur();
    await stage.untilFootlights('nothing wrong', 'state', (s) => s.problems.length === 0);
    await play(stage);
    await reads(stage, 'a transition', /goes from day to night/);
    await reads(stage, 'the way back', /goes from night to day/);
    await stage.byId('inspector-tab-stats').click();
    await stage.until('its state', async () => /day|night/.test(await stage.byId('stat-in-the-state').textContent()));
    await stage.accessible();
  },

  async a_pool_that_breathes_says_why_it_grows_and_shrinks(stage) {
    await open(stage, 'A pool that breathes');
    await fullSpeed(stage);
    await play(stage);
    await reads(stage, 'growth with its numbers', /\d+ routees become \d+: all \d+ that can work have messages waiting/);
    await reads(stage, 'shrinking with its numbers', /\d+ routees become \d+: \d+ of \d+ that can work have messages waiting, fewer than/);
  },
};
