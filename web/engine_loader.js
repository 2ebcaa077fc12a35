// Starts the engine worker. Trunk gives worker files no hash in their names, so the page asks for this file with
// `?v=BUILD`, and the query goes on to the files that it loads: a new page never runs a cached old engine.
importScripts("./engine.js" + self.location.search);
wasm_bindgen({ module_or_path: "./engine_bg.wasm" + self.location.search }).catch((error) => {
  // A rejected promise stays inside the worker; an error thrown from a task reaches the page's `worker.onerror`.
  setTimeout(() => { throw error; });
});
