// The page as a whole: it comes up from a sub-path, without a word in the console, and its engine answers.

export const tests = {
  async the_page_shows_something_before_its_module_has_loaded(stage) {
    await stage.page.route('**/*.wasm', () => {});
    await stage.page.goto(stage.url, { waitUntil: 'domcontentloaded' });
    await stage.until('the heading', () => stage.page.getByRole('heading', { name: 'Footlights' }).isVisible());
  },

  async the_engine_shakes_hands_with_the_page(stage) {
    await stage.open();
    const workers = stage.page.workers().map((worker) => worker.url());
    stage.assert.equal(workers.length, 1, `one engine runs: ${workers}`);
    stage.assert.match(workers[0], /\/some\/path\/engine_loader\.js\?v=0\.1\.0%2B\w+/);
  },

  async every_file_of_the_engine_is_asked_for_by_its_build(stage) {
    const asked = [];
    stage.context.on('request', (request) => asked.push(request.url()));
    await stage.open();
    const engine = asked.filter((url) => url.includes('/engine'));
    stage.assert.ok(engine.length >= 1 && engine.every((url) => url.includes('?v=')), engine.join('\n'));
  },

  async the_page_is_accessible(stage) {
    await stage.open();
    await stage.accessible();
  },
};
