// Runs the journeys: every `*.e2e.mjs` of this folder against the built page in `dist/`, in headless Chromium.
//
//   node run.mjs [WORD]...     runs the journeys whose `file/name` contains one of the words; without any, all
//   node run.mjs --list        names them
//   node run.mjs --headed      shows the browser (needs a screen)
//
// A file exports its journeys by name; each gets a Stage (stage.mjs) with a fresh browser context:
//
//   export const tests = {
//     async j1_the_pool_runs(stage) {
//       await stage.open();
//       await stage.byId('transport-play').click();
//       await stage.untilFootlights('ten handled messages', 'ledger', (ledger) => ledger.handled >= 10);
//       await stage.accessible();
//     },
//   };
//   export const deadline_ms = 120_000;   // optional, for each journey of the file; 60 s without it
//
// A journey fails when it throws, when its deadline is over, or when a page logs an error or a warning, throws, crashes or
// gets an answer of 400 and above (`stage.tolerate(pattern, why)` for what it provokes). Then its screenshot is
// in `target/e2e/`. The page is served from a sub-path, without special headers, as the plainest host would.
//
// FOOTLIGHTS_CHROMIUM names the browser; without it /usr/bin/chromium is taken.

import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { serve } from './server.mjs';
import { Stage, within } from './stage.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = resolve(HERE, '../../..');
const DIST = join(ROOT, 'dist');
const SCREENSHOTS = join(ROOT, 'target', 'e2e');
const SUB_PATH = '/some/path/';
const DEADLINE_MS = 60_000;
const BROWSER = {
  executablePath: process.env.FOOTLIGHTS_CHROMIUM ?? '/usr/bin/chromium',
  // Without the last four Chromium calls home at each start, and says so in the log where it may not.
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
};

/** Reads the command line; an option that is not known is an error. */
function readArgs(argv) {
  const options = argv.filter((arg) => arg.startsWith('-'));
  const unknown = options.find((option) => !['--list', '--headed'].includes(option));
  if (unknown) throw new Error(`unknown option ${unknown}; there are --list and --headed, and words to choose journeys by`);
  return {
    words: argv.filter((arg) => !arg.startsWith('-')),
    list: options.includes('--list'),
    headed: options.includes('--headed'),
  };
}

/** Loads the journeys of every file, in the order of file names, then of the file. */
async function journeys(words) {
  const files = (await readdir(HERE)).filter((name) => name.endsWith('.e2e.mjs')).sort();
  const found = [];
  for (const file of files) {
    const module = await import(pathToFileURL(join(HERE, file)));
    if (!module.tests) throw new Error(`${file} does not export \`tests\``);
    for (const [name, run] of Object.entries(module.tests)) {
      found.push({ name: `${file.replace('.e2e.mjs', '')}/${name}`, run, deadline_ms: module.deadline_ms ?? DEADLINE_MS });
    }
  }
  return words.length === 0 ? found : found.filter(({ name }) => words.some((word) => name.includes(word)));
}

/** Runs one journey; resolves to null, or to the error that it failed with. */
async function perform(browser, url, { name, run, deadline_ms }) {
  const stage = await Stage.start(browser, url);
  try {
    await within(deadline_ms, run(stage), `the journey did not end; raise deadline_ms if it needs longer`);
    const problems = stage.problems();
    if (problems.length > 0) throw new Error(`the page had problems:\n  ${problems.join('\n  ')}`);
    return null;
  } catch (error) {
    return await explain(stage, name, error);
  } finally {
    await within(10_000, stage.context.close(), 'the browser context did not close').catch((error) => console.error(error.message));
  }
}

/** Adds to a failure what the page had to complain of, and where its screenshot is. */
async function explain(stage, name, error) {
  const file = join(SCREENSHOTS, `${name.replaceAll('/', '-')}.png`);
  const shot = await stage.page.screenshot({ path: file, timeout: 5000 }).then(
    () => `screenshot: ${relative(ROOT, file)}`,
    (cause) => `no screenshot: ${cause.message.split('\n')[0]}`,
  );
  const problems = stage.problems().filter((problem) => !String(error.message).includes(problem));
  const also = problems.length > 0 ? [`the page also had problems:\n  ${problems.join('\n  ')}`] : [];
  return [error.stack ?? String(error), ...also, shot].join('\n');
}

async function main() {
  const { words, list, headed } = readArgs(process.argv.slice(2));
  const chosen = await journeys(words);
  if (list) {
    for (const { name } of chosen) console.log(name);
    return 0;
  }
  if (!(await stat(join(DIST, 'index.html')).catch(() => null))) {
    throw new Error('dist/index.html is missing; build the page first: cargo xtask build');
  }
  if (!(await stat(BROWSER.executablePath).catch(() => null))) {
    throw new Error(`${BROWSER.executablePath} is missing; name the browser by FOOTLIGHTS_CHROMIUM, or: apt-get install chromium`);
  }
  await rm(SCREENSHOTS, { recursive: true, force: true });
  await mkdir(SCREENSHOTS, { recursive: true });
  const start = performance.now();
  const server = await serve(DIST, SUB_PATH);
  const browser = await chromium.launch({ ...BROWSER, headless: !headed });
  let failed = 0;
  try {
    for (const journey of chosen) {
      const begun = performance.now();
      const error = await perform(browser, server.url, journey);
      const took = `${((performance.now() - begun) / 1000).toFixed(1)} s`;
      console.log(`${error ? 'FAILED' : 'ok    '} ${journey.name} (${took})`);
      if (error) console.log(error.replace(/^/gm, '       '));
      failed += error ? 1 : 0;
    }
  } finally {
    await browser.close();
    await server.close();
  }
  const total = ((performance.now() - start) / 1000).toFixed(1);
  if (chosen.length === 0) console.log(`no journey is called ${words.join(' or ') || 'anything'}`);
  console.log(`e2e: ${chosen.length - failed} passed, ${failed} failed in ${total} s`);
  return failed > 0 || chosen.length === 0 ? 1 : 0;
}

main().then(
  (code) => process.exit(code),
  (error) => {
    console.error(`error: ${error.message}`);
    process.exit(2);
  },
);
