// Moves that several journeys share: an empty canvas, placing and wiring by mouse, running to an end.

/** Opens the page and takes everything off the canvas, by the File menu. */
export async function emptyCanvas(stage) {
  await stage.open();
  await stage.byId('menu-file').click();
  await stage.byId('file-new').click();
  await stage.untilFootlights('an empty canvas', 'state', (state) => state.nodes.length === 0);
}

/** Chooses a scenario that ships with the page, by its place in the picker. */
export async function choose(stage, index) {
  await stage.byId('lesson-picker').selectOption(String(index));
}

/** Places a node: a click on its kind, a click on the canvas `dx`, `dy` from its middle; resolves to its id. */
export async function place(stage, kind, dx, dy) {
  const before = new Set((await stage.footlights('state')).nodes.map((node) => node.id));
  await stage.byId(`palette-item-${kind}`).click();
  const middle = await stage.centre('canvas');
  await stage.page.mouse.click(middle.x + dx, middle.y + dy);
  const state = await stage.untilFootlights(`a new ${kind}`, 'state', ({ nodes }) => nodes.some(({ id }) => !before.has(id)));
  const toast = (await stage.byId('toast').allTextContents()).join();
  stage.assert.doesNotMatch(toast, /Not possible/, `placing a ${kind} is refused nothing`);
  return state.nodes.find(({ id }) => !before.has(id)).id;
}

/** Wires two ports by mouse, as `source-1.out`. */
export async function wire(stage, from, to) {
  const port = (name) => stage.byId(`port-${name.replace('.', '-')}`);
  await stage.drag(port(from), port(to));
  await stage.untilFootlights(`a wire from ${from} to ${to}`, 'state', ({ edges }) => edges.some((e) => e.from === from && e.to === to));
}

/** Types a value into a field of the inspector for a node. */
export async function set(stage, node, field, value) {
  await select(stage, node);
  await stage.byId(field).fill(String(value));
  await stage.byId(field).press('Enter');
  await stage.byId(field).blur();
}

/** Selects a node by a click on it. */
export async function select(stage, node) {
  const target = stage.byId(`node-${node}`).or(stage.byId(`group-${node}`));
  const box = await target.boundingBox();
  await stage.page.mouse.click(box.x + box.width / 2, box.y + Math.min(12, box.height / 2));
  await stage.untilFootlights(`${node} to be selected`, 'state', (state) => state.selected.includes(node));
}

/** Lets the clock run, if it does not. */
export async function play(stage) {
  const button = stage.byId('transport-play');
  if ((await button.getAttribute('data-state')) !== 'playing') await button.click();
  await stage.untilFootlights('the clock to run', 'state', (s) => s.mode === 'playing' || s.ended !== null);
}

/** So many times real time: the slider has five places to a power of ten, and ×1 is the fifteenth. */
export async function setSpeed(stage, times) {
  await stage.byId('speed').fill(String(15 + Math.round(5 * Math.log10(times))));
}

/** As fast as the device can. */
export async function fullSpeed(stage) {
  await stage.byId('speed').focus();
  await stage.page.keyboard.press('End');
}

/** The ledger adds up, by its own terms as well as by what the engine says. */
export function assertBalanced(stage, ledger) {
  const sum = ledger.handled + ledger.queued + ledger.stashed + ledger.failed + ledger.dead_lettered + ledger.dropped;
  stage.assert.ok(ledger.balanced && ledger.sent === sum, JSON.stringify(ledger));
}
