// The editor: from an empty canvas to a running graph, by mouse and by keyboard; undo and redo; refusals.

import { assertBalanced, emptyCanvas, fullSpeed, place, play, select, set, wire } from './moves.mjs';

export const tests = {
  async j2_a_supervised_pool_is_wired_by_mouse_and_runs(stage) {
    await emptyCanvas(stage);
    const source = await place(stage, 'source', -360, 0);
    const router = await place(stage, 'router', -160, 0);
    const group = await place(stage, 'supervisor', 80, 0);
    const first = await place(stage, 'worker', 80, -60);
    const second = await place(stage, 'worker', 80, 60);
    const sink = await place(stage, 'collector', 330, 0);
    const state = await stage.footlights('state');
    const parents = state.nodes.filter((n) => n.kind === 'worker').map((n) => n.parent);
    stage.assert.deepEqual(parents, [group, group], 'what is dropped into a supervisor is its child');
    await wire(stage, `${source}.out`, `${router}.in`);
    for (const worker of [first, second]) {
      await wire(stage, `${router}.out`, `${worker}.in`);
      await wire(stage, `${worker}.out`, `${sink}.in`);
    }
    await play(stage);
    const ledger = await stage.untilFootlights('twenty handled messages', 'ledger', (l) => l !== null && l.handled >= 20);
    assertBalanced(stage, ledger);
    const now = await stage.footlights('state');
    stage.assert.deepEqual(now.problems, []);
    stage.assert.ok(now.nodes.find((n) => n.id === sink).handled > 0, 'messages arrive');
    stage.assert.equal(await stage.byId('ledger-balanced').getAttribute('data-balanced'), 'true');
  },

  async j2_a_stream_with_a_buffer_is_wired_by_mouse_and_runs(stage) {
    await emptyCanvas(stage);
    const names = [];
    for (const [i, kind] of ['range', 'map', 'buffer', 'for_each'].entries()) {
      names.push(await place(stage, kind, -330 + 210 * i, 0));
    }
    for (let i = 0; i + 1 < names.length; i++) await wire(stage, `${names[i]}.out`, `${names[i + 1]}.in`);
    await set(stage, names[3], 'param-work_ms', 50);
    await play(stage);
    await stage.untilFootlights('elements at the end', 'state', ({ nodes }) => nodes.find((n) => n.id === names[3]).handled > 5);
    assertBalanced(stage, await stage.footlights('ledger'));
  },

  async a_stream_that_forks_and_joins_is_wired_by_mouse_and_runs_to_its_end(stage) {
    await emptyCanvas(stage);
    const [range, split, left, right, join, count] = [
      await place(stage, 'range', -380, 0), await place(stage, 'broadcast', -200, 0), await place(stage, 'map', 0, -90),
      await place(stage, 'filter', 0, 90), await place(stage, 'merge', 190, 0), await place(stage, 'fold', 370, 0),
    ];
    for (const [from, to] of [[range, split], [split, left], [split, right], [left, join], [right, join], [join, count]]) {
      await wire(stage, `${from}.out`, `${to}.in`);
    }
    await set(stage, range, 'param-count', 100);
    await fullSpeed(stage);
    await play(stage);
    const state = await stage.untilFootlights('the end', 'state', (s) => s.finished, { deadline_ms: 60_000 });
    const handled = Object.fromEntries(state.nodes.map((n) => [n.id, n.handled]));
    stage.assert.deepEqual([left, right, join, count].map((id) => handled[id]), [100, 100, 150, 150], 'all of one way, the even ones of the other');
    stage.assert.deepEqual(state.problems, []);
  },

  async a_slow_sink_never_fills_more_than_the_declared_buffers(stage) {
    await emptyCanvas(stage);
    const [range, buffer, boundary, sink] = [
      await place(stage, 'range', -330, 0), await place(stage, 'buffer', -120, 0),
      await place(stage, 'async_boundary', 90, 0), await place(stage, 'for_each', 300, 0),
    ];
    for (const [from, to] of [[range, buffer], [buffer, boundary], [boundary, sink]]) await wire(stage, `${from}.out`, `${to}.in`);
    await set(stage, buffer, 'param-size', 8);
    await set(stage, boundary, 'param-capacity', 4);
    await set(stage, sink, 'param-work_ms', 20);
    await play(stage);
    let [fullest, ring] = [0, 0];
    await stage.untilFootlights('the sink to have handled 60', 'state', ({ nodes }) => {
      const [held, crossing] = [buffer, boundary].map((id) => nodes.find((n) => n.id === id));
      if (held.capacity !== 8 || crossing.capacity !== 4) return false;
      stage.assert.ok(held.queued <= 8, `${held.queued} in a buffer of 8`);
      stage.assert.ok(crossing.queued <= 4, `${crossing.queued} in a ring of 4`);
      fullest = Math.max(fullest, held.queued);
      ring = Math.max(ring, crossing.queued);
      return nodes.find((n) => n.id === sink).handled >= 60;
    }, { deadline_ms: 20_000 });
    stage.assert.ok(fullest >= 6 && ring >= 3, `a slow sink fills what is declared, seen ${fullest} of 8 and ${ring} of 4`);
  },

  async placing_nodes_toasts_nothing_that_was_not_asked_for(stage) {
    await emptyCanvas(stage);
    for (const [i, kind] of ['source', 'worker', 'map'].entries()) {
      await place(stage, kind, -200 + 200 * i, 0);
      await stage.untilFootlights('the new run, or why there is none', 'state', ({ problems }) => problems.some((p) => p.includes(`${kind}-1`)));
      const toasts = await stage.byId('toast').allTextContents();
      stage.assert.ok(toasts.every((text) => !/Not possible/.test(text)), toasts.join());
      const { mode } = await stage.footlights('state');
      stage.assert.notEqual(mode, 'playing', 'no clock runs under a graph that cannot');
      stage.assert.equal(await stage.byId('app-root').getAttribute('data-mode'), mode);
    }
  },

  async a_refused_wire_says_why(stage) {
    await emptyCanvas(stage);
    const source = await place(stage, 'source', -200, 0);
    const map = await place(stage, 'map', 100, 0);
    await stage.drag(stage.byId(`port-${source}-out`), stage.byId(`port-${map}-in`));
    await stage.until('the reason', async () => {
      const text = await stage.byId('toast').textContent().catch(() => '');
      return [/to_stream/.test(text ?? ''), text];
    });
    stage.assert.equal((await stage.footlights('state')).edges.length, 0);
  },

  async a_half_wired_graph_names_its_problem(stage) {
    await emptyCanvas(stage);
    await place(stage, 'source', 0, 0);
    await stage.untilFootlights('a problem', 'state', ({ problems }) => problems.some((p) => p.includes('source-1')));
    await stage.byId('dock-tab-problems').click();
    await stage.until('it to be listed', async () => /source-1/.test(await stage.byId('problems').textContent()));
  },

  async u1_deleting_a_node_is_undone_with_its_edges_by_key_and_by_button(stage) {
    await stage.open();
    const before = (await stage.footlights('state')).edges.map((e) => e.id).sort();
    await select(stage, 'router');
    await stage.page.keyboard.press('Delete');
    await stage.untilFootlights('the router gone', 'state', (s) => s.nodes.every((n) => n.id !== 'router') && s.edges.length === 1);
    const whole = (s) => s.nodes.some((n) => n.id === 'router') && s.edges.map((e) => e.id).sort().join() === before.join();
    await stage.page.keyboard.press('Control+z');
    await stage.untilFootlights('the router back with its edges', 'state', whole);
    await stage.byId('redo').click();
    await stage.untilFootlights('the router gone again', 'state', (s) => s.edges.length === 1);
    await stage.byId('undo').click();
    await stage.untilFootlights('the router back again', 'state', whole);
    await stage.page.keyboard.press('Control+Shift+Z');
    await stage.untilFootlights('the router gone by key', 'state', (s) => s.edges.length === 1);
  },

  async dragging_a_node_out_of_its_supervisor_gives_it_another_parent(stage) {
    await stage.open();
    const box = await stage.byId('node-worker-5').boundingBox();
    const from = { x: box.x + box.width / 2, y: box.y + 10 };
    await stage.drag(from, { x: from.x - 260, y: from.y });
    await stage.untilFootlights('worker-5 without a supervisor', 'state', ({ nodes }) => nodes.find((n) => n.id === 'worker-5').parent === null);
    await stage.page.keyboard.press('Control+z');
    await stage.untilFootlights('worker-5 back', 'state', ({ nodes }) => nodes.find((n) => n.id === 'worker-5').parent === 'crew');
  },

  async a_structural_edit_starts_a_new_run_with_the_same_seed(stage) {
    await stage.open();
    const { run, seed } = await stage.footlights('state');
    await select(stage, 'worker-1');
    await stage.byId('param-mailbox').fill('9');
    await stage.byId('param-mailbox').press('Enter');
    await stage.byId('param-mailbox').blur();
    const after = await stage.untilFootlights('a new run', 'state', (s) => s.run > run);
    stage.assert.equal(after.seed, seed);
    await stage.until('a toast', async () => /new run/.test((await stage.byId('toast').textContent().catch(() => '')) ?? ''));
  },

  async a_live_knob_changes_the_run_that_goes_on(stage) {
    await stage.open();
    await select(stage, 'worker-1');
    const { run } = await stage.footlights('state');
    await stage.byId('fault-percent').fill('100');
    await stage.byId('fault-percent').press('Enter');
    await stage.byId('fault-percent').blur();
    await fullSpeed(stage);
    const state = await stage.untilFootlights('worker-1 to fail', 'state', (s) => s.nodes.find((n) => n.id === 'worker-1').lost > 0 || s.events.some((e) => e.node === 'worker-1' && e.kind === 'Failed'));
    stage.assert.equal(state.run, run, 'no new run');
  },

  async a_small_graph_is_built_by_keyboard_alone(stage) {
    await emptyCanvas(stage);
    const { keyboard } = stage.page;
    for (const [word, kind] of [['source', 'source'], ['collector', 'collector']]) {
      await stage.byId('palette-search').focus();
      await keyboard.press('Control+a');
      await keyboard.type(word);
      await stage.byId(`palette-item-${kind}`).focus();
      await keyboard.press('Enter');
      await stage.byId('canvas').focus();
      await keyboard.press('Enter');
      await stage.until(`the ${kind} to have the focus`, () => stage.page.evaluate((id) => document.activeElement?.id === id, `node-${kind}-1`));
    }
    await keyboard.press('m');
    await keyboard.press('Shift+ArrowRight');
    await keyboard.press('Shift+ArrowRight');
    await keyboard.press('Enter');
    await keyboard.press('ArrowLeft');
    await stage.until('the source to have the focus', () => stage.page.evaluate(() => document.activeElement?.id === 'node-source-1'));
    await keyboard.press('c');
    await stage.until('the list', () => stage.byId('connect-list').isVisible());
    await keyboard.type('coll');
    await keyboard.press('Enter');
    await stage.untilFootlights('the wire', 'state', ({ edges }) => edges.length === 1);
    await stage.byId('canvas').focus();
    await play(stage);
    await stage.untilFootlights('messages', 'ledger', (l) => l !== null && l.handled > 3);
    await stage.byId('canvas').focus();
    await keyboard.press('Space');
    await stage.until('the clock to stop', async () => (await stage.byId('transport-play').getAttribute('data-state')) === 'paused');
  },

  async ctrl_g_groups_what_is_selected(stage) {
    await emptyCanvas(stage);
    await place(stage, 'worker', -100, 0);
    await place(stage, 'worker', 150, 0);
    await stage.byId('canvas').focus();
    await stage.page.keyboard.press('Control+a');
    await stage.page.keyboard.press('Control+g');
    await stage.untilFootlights('both under a supervisor', 'state', ({ nodes }) => nodes.filter((n) => n.parent === 'supervisor-1').length === 2);
  },
};
