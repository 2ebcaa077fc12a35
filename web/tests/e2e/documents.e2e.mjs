// Documents: import, export, and whatever is thrown at the page.

const document = (nodes, edges = '') => `{"version":1,"seed":1,"workers":1,"nodes":[${nodes}],"edges":[${edges}]}`;

const BAD = [
  ['an unknown kind', document('{"id":"n","kind":"teapot"}'), /node "n".*teapot/],
  ['a dangling edge', document('', '{"id":"e","from":"a.out","to":"b.in"}'), /edge "e"/],
  ['a duplicate id', document('{"id":"n","kind":"router"},{"id":"n","kind":"router"}'), /node "n".*two nodes/],
  ['a negative rate', document('{"id":"n","kind":"source","params":{"rate_per_s":-1}}'), /node "n".*rate_per_s/],
  ['NaN', document('{"id":"n","kind":"source","params":{"rate_per_s":NaN}}'), /line 1 column \d+/],
  ['a truncated file', '{"version":1,"seed":1,"nodes":[', /line 1 column \d+.*too early/],
  ['a newer version', '{"version":99,"seed":1,"workers":1,"nodes":[],"edges":[]}', /newer Footlights/],
  ['10 MB', null, /10000000 bytes/],
  ['markup', '<img src=x onerror=alert(1)>', /line 1/],
];

async function tryText(stage, text) {
  await stage.byId('menu-file').click();
  await stage.byId('import-open').click();
  // Ten megabytes through the keyboard would take minutes; the field is what is tested, not the typing.
  await stage.byId('import-text').evaluate((area, value) => { area.value = value ?? 'x'.repeat(10_000_000); }, text);
  await stage.byId('import-apply').click();
}

export const tests = {
  async bad_input_names_the_place_and_the_running_scenario_is_untouched(stage) {
    await stage.open();
    const before = await stage.untilFootlights('messages', 'state', (s) => s.turn > 5);
    for (const [what, text, expected] of BAD) {
      await tryText(stage, text);
      const shown = await stage.until(`the error of ${what}`, async () => {
        const content = await stage.byId('import-error').textContent({ timeout: 1000 }).catch(() => '');
        return [expected.test(content), content.slice(0, 300)];
      });
      stage.assert.ok(shown);
      await stage.byId('import-cancel').click();
      const after = await stage.footlights('state');
      stage.assert.equal(after.run, before.run, `${what}: the run goes on`);
      stage.assert.deepEqual(after.nodes.map((n) => n.id), before.nodes.map((n) => n.id));
      stage.assert.equal(after.mode, 'playing');
    }
  },

  async a_file_that_is_too_large_is_refused_by_name(stage) {
    await stage.open();
    await stage.byId('menu-file').click();
    await stage.byId('import-open').click();
    await stage.byId('import-file').setInputFiles({ name: 'big.json', mimeType: 'application/json', buffer: Buffer.alloc(10_000_000, 'x') });
    await stage.until('the error', async () => /larger than 2 MB/.test((await stage.byId('import-error').textContent().catch(() => '')) ?? ''));
  },

  async what_is_exported_can_be_imported_again(stage) {
    await stage.open();
    const before = await stage.footlights('state');
    const download = stage.page.waitForEvent('download');
    await stage.byId('menu-file').click();
    await stage.byId('export-json').click();
    const file = await download;
    stage.assert.equal(file.suggestedFilename(), 'let-it-crash.json');
    const path = await file.path();
    await stage.byId('menu-file').click();
    await stage.byId('file-new').click();
    await stage.untilFootlights('an empty canvas', 'state', (s) => s.nodes.length === 0);
    await stage.byId('menu-file').click();
    await stage.byId('import-open').click();
    await stage.byId('import-file').setInputFiles(path);
    await stage.untilFootlights('the graph back', 'state', (s) => s.nodes.length === before.nodes.length);
    stage.assert.deepEqual((await stage.footlights('state')).edges.map((e) => [e.from, e.to]), before.edges.map((e) => [e.from, e.to]));
  },

  async hostile_addresses_never_give_a_blank_page(stage) {
    for (const suffix of ['#v1.AAAA', '#v9.x', '?lesson=%00&embed=1', `#${'A'.repeat(5000)}`, '?scenario=<script>alert(1)</script>', '#%E0%A4%A']) {
      await stage.page.goto('about:blank');
      await stage.open(suffix);
      stage.assert.ok((await stage.footlights('state')).nodes.length > 0, suffix.slice(0, 30));
      stage.assert.deepEqual(stage.problems(), [], `the console is clean after ${suffix.slice(0, 30)}`);
      stage.assert.ok(await stage.page.getByRole('heading').first().isVisible(), `a heading after ${suffix.slice(0, 30)}`);
    }
  },

  async both_themes_are_accessible(stage) {
    for (const [colorScheme, width, height] of [['light', 1366, 768], ['dark', 1024, 600]]) {
      await stage.page.setViewportSize({ width, height });
      await stage.page.emulateMedia({ colorScheme });
      await stage.open();
      await stage.accessible();
      for (const tab of ['why', 'table', 'problems', 'ledger']) {
        await stage.byId(`dock-tab-${tab}`).click();
        await stage.accessible();
      }
      await stage.byId('node-worker-2').focus();
      for (const tab of ['params', 'stats', 'why']) {
        await stage.byId(`inspector-tab-${tab}`).click();
        await stage.accessible();
      }
      await stage.byId('menu-file').click();
      await stage.byId('import-open').click();
      await stage.accessible();
    }
  },
};
