// A plain static host on loopback: it serves one folder under one sub-path, and sets no header but type and length, so
// that a page which works here works anywhere. What lies outside of the sub-path is not found: an absolute address fails.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** Serves `folder` under `base` (as `/some/path/`) on a free loopback port; resolves to `{ url, close }`. */
export async function serve(folder, base) {
  const server = createServer(async (request, response) => {
    const file = locate(folder, base, request.url);
    const body = file && (await readFile(file).catch(() => null));
    if (!body) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n');
      return;
    }
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body);
  });
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}${base}`;
  const close = () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections()));
  return { url, close };
}

/** Finds the file that a request's target names, or null where it is not under `base`. */
function locate(folder, base, target) {
  const path = target.split('?')[0];
  if (!path.startsWith(base)) return null;
  let name;
  try {
    name = normalize(decodeURIComponent(path.slice(base.length)));
  } catch {
    return null;
  }
  if (name === '..' || name.startsWith('..' + sep)) return null;
  return join(folder, name === '.' || name.endsWith(sep) ? join(name, 'index.html') : name);
}
