// Running: the scenarios that ship, the endless loop, a fault of the engine, restarts as the log has them.

import { readFile } from 'node:fs/promises';
import { assertBalanced, choose, emptyCanvas, fullSpeed, place, play, set, setSpeed, wire } from './moves.mjs';

export const deadline_ms = 120_000;

/** Restarts and failures that the page shows and the log has. */
async function restartsAgree(stage) {
  const state = await stage.footlights('state');
  const shown = state.nodes.filter((n) => n.kind === 'worker').reduce((sum, n) => sum + n.restarts, 0);
  const logged = state.events.filter((e) => e.kind === 'Restarted').length;
  stage.assert.equal(shown, logged, 'restarts shown = restarts in the log');
  return shown;
}

export const tests = {
  async j1_a_first_visit_finds_a_pool_running_and_can_read_why(stage) {
    await stage.open();
    await stage.untilFootlights('messages', 'ledger', (l) => l !== null && l.handled > 10);
    // Max would be at the end before a hand is at the button: the clock is stopped at ×1, and the restart looked for after it.
    await setSpeed(stage, 1);
    await stage.byId('transport-play').click();
    await stage.untilFootlights('a standing clock', 'state', (s) => s.mode === 'paused');
    const before = await stage.until('turns to stand still', async () => {
      const [a, b] = [await stage.footlights('state'), await stage.footlights('state')];
      return [a.turn === b.turn && a, a];
    });
    stage.assert.equal(before.ended, null, 'the run has not ended');
    await stage.byId('transport-step').click();
    await stage.untilFootlights('one turn more', 'state', (s) => s.turn === before.turn + 1);
    await fullSpeed(stage);
    await play(stage);
    await stage.untilFootlights('a restart', 'state', (s) => s.events.some((e) => e.kind === 'Restarted'));
    await stage.byId('dock-tab-why').click();
    await stage.until('a decision in words', async () => /worker-\d/.test(await stage.byId('why-log').textContent()));
  },

  async restarts_on_the_page_are_the_restarts_of_the_log(stage) {
    await stage.open();
    await fullSpeed(stage);
    await stage.untilFootlights('the end', 'state', (s) => s.ended !== null, { deadline_ms: 60_000 });
    stage.assert.ok((await restartsAgree(stage)) > 0, 'something was restarted');
    assertBalanced(stage, await stage.footlights('ledger'));
  },

  async each_scenario_starts_from_the_picker_runs_as_natively_and_to_its_end(stage) {
    const golden = JSON.parse(await readFile(new URL('../../scenarios/golden/hashes.json', import.meta.url), 'utf8'));
    await stage.open();
    await fullSpeed(stage);
    const picker = stage.byId('lesson-picker').locator('option');
    for (const [name, slow] of [['let-it-crash'], ['ten-million-messages'], ['boundary-and-buffer'], ['restart-windows', true],
      ['eight-routers', true], ['breathing-pool', true], ['throughput-and-fairness', true], ['translation-service'],
      ['state-machine', true], ['junction-deciders'], ['mailbox-kinds', true], ['parallel-lanes']]) {
      const { name: title } = JSON.parse(await readFile(new URL(`../../scenarios/${name}.json`, import.meta.url), 'utf8'));
      await stage.byId('lesson-picker').selectOption(await picker.filter({ hasText: title }).first().getAttribute('value'));
      await stage.byId('reset').click();
      await stage.untilFootlights(`${name} at turn 0`, 'state', (s) => s.mode === 'paused' && s.turn === 0 && s.nodes.every((n) => n.handled !== null));
      const { at_ns, turn, hash, sent, handled } = golden[name];
      await stage.byId('transport-run-to').fill(String(at_ns / 1e9));
      await stage.byId('transport-run-to').press('Enter');
      await stage.untilFootlights(`${name} at ${at_ns} ns`, 'state', (s) => Number(s.time_ns) >= at_ns || s.finished, { deadline_ms: 30_000 });
      const [state, ledger] = [await stage.footlights('state'), await stage.footlights('ledger')];
      const page = { turn: state.turn, hash: await stage.footlights('logHash'), sent: ledger.sent, handled: ledger.handled };
      stage.assert.deepEqual(page, { turn, hash, sent, handled }, `${name}: the page runs what the native Stepper runs`);
      if (slow) continue; // it has no end, or a far one
      await play(stage);
      await stage.untilFootlights(`the end of ${name}`, 'state', (s) => s.finished, { deadline_ms: 60_000 });
      assertBalanced(stage, await stage.footlights('ledger'));
    }
  },

  async a_step_back_is_the_turn_before_with_the_same_log(stage) {
    await stage.open();
    await stage.byId('reset').click();
    await stage.untilFootlights('turn 0', 'state', (s) => s.mode === 'paused' && s.turn === 0);
    const hashes = [];
    for (let turn = 1; turn <= 5; turn++) {
      await stage.byId('transport-step').click();
      await stage.untilFootlights(`turn ${turn}`, 'state', (s) => s.turn === turn);
      hashes.push(await stage.footlights('logHash'));
    }
    await stage.byId('transport-back').click();
    await stage.untilFootlights('turn 4 again', 'state', (s) => s.turn === 4);
    stage.assert.equal(await stage.footlights('logHash'), hashes[3]);
  },

  async w1_an_endless_ping_pong_leaves_the_page_alive_and_stops_at_once(stage) {
    await emptyCanvas(stage);
    const source = await place(stage, 'source', -330, 0);
    const ping = await place(stage, 'worker', -80, 0);
    const pong = await place(stage, 'worker', 190, 0);
    await wire(stage, `${source}.out`, `${ping}.in`);
    await wire(stage, `${ping}.out`, `${pong}.in`);
    await wire(stage, `${pong}.out`, `${ping}.in`);
    await set(stage, ping, 'param-mean_ms', 0);
    await set(stage, pong, 'param-mean_ms', 0);
    await set(stage, source, 'param-count', 50);
    await fullSpeed(stage);
    await play(stage);
    await stage.untilFootlights('a storm', 'ledger', (l) => l !== null && l.handled > 20_000, { deadline_ms: 20_000 });
    const seconds = 4;
    const frames = await stage.framesIn(seconds * 1000);
    stage.assert.ok(frames >= 30 * seconds, `${frames} frames in ${seconds} s`);
    const took = await stage.page.evaluate(async () => {
      const start = performance.now();
      document.querySelector('[data-testid=transport-play]').click();
      for (;;) {
        const before = window.footlights.state().turn;
        await new Promise((resolve) => setTimeout(resolve, 60));
        if (window.footlights.state().turn === before) return performance.now() - start - 60;
        if (performance.now() - start > 5000) return Infinity;
      }
    });
    stage.assert.ok(took <= 300, `the clock stood still after ${took} ms`);
    assertBalanced(stage, await stage.footlights('ledger'));
  },

  async a_panic_of_the_engine_is_told_and_the_graph_is_kept(stage) {
    await stage.open();
    await stage.untilFootlights('messages', 'ledger', (l) => l !== null && l.handled > 10);
    const before = await stage.footlights('state');
    await stage.page.evaluate(() => window.footlights.debugPanic());
    await stage.until('the banner', () => stage.byId('fault-banner').isVisible());
    stage.assert.match(await stage.byId('fault-banner').textContent(), /fault in Footlights/);
    const after = await stage.untilFootlights('the engine back, paused', 'state', (s) => s.mode === 'paused' && s.turn > 0);
    stage.assert.deepEqual(after.nodes.map((n) => n.id), before.nodes.map((n) => n.id));
    await stage.byId('transport-play').click();
    await stage.untilFootlights('the run to go on', 'state', (s) => s.turn > after.turn);
  },

  async the_cores_of_the_run_can_be_changed(stage) {
    await stage.open();
    await choose(stage, 2);
    await fullSpeed(stage);
    const timeWith = async (cores) => {
      await stage.byId('cores').fill(String(cores));
      await stage.byId('cores').press('Enter');
      await stage.byId('cores').blur();
      await stage.byId('reset').click();
      await stage.untilFootlights('turn 0', 'state', (s) => s.turn === 0 && s.mode === 'paused');
      await play(stage);
      const end = await stage.untilFootlights('the end', 'state', (s) => s.finished, { deadline_ms: 30_000 });
      return Number(end.time_ns) / 1e9;
    };
    const [two, one] = [await timeWith(2), await timeWith(1)];
    stage.assert.ok(Math.abs(two - 10) < 0.1 && Math.abs(one - 20) < 0.1, `1 core ${one} s, 2 cores ${two} s`);
  },
};
