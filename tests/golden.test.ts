import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as health from '@/app/api/health/route';
import { accountingCsv } from '@/lib/exports/accounting-csv';
import { EXPORT_KINDS, exportCsv } from '@/lib/exports/export-csv';
import { openApiDocument } from '@/lib/openapi/document';
import { REPORTS, type ReportName, reportCsv } from '@/lib/overview/reports';
import { useApi } from './support/api';

/**
 * Compares a public contract with its snapshot in tests/golden. A changed snapshot means that the contract has changed.
 * Other tests cover the MCP tools (tests/mcp/tools-list.txt) and the rows of the demo (tests/integration/seed.test.ts).
 */
const golden = (name: string, lines: Iterable<string>) =>
  expect(`${[...lines].join('\n')}\n`).toMatchFileSnapshot(`golden/${name}`);

const server = useApi({ '/api/health': health });

test('the OpenAPI document equals its golden file', async () => {
  await golden('openapi.txt', [JSON.stringify(openApiDocument('https://admin.w5t.test'), null, 2)]);
});

test('the CSV header rows of records, lists, reports and accounting equal their golden file', async () => {
  const { db } = server.runtime;
  const files: Record<string, AsyncGenerator<string>> = { accounting: accountingCsv(db, '2026-02') };
  for (const [name, kind] of Object.entries(EXPORT_KINDS)) files[`records ${name}`] = exportCsv(db, kind);
  for (const report of Object.keys(REPORTS) as ReportName[])
    files[`report ${report}`] = reportCsv(db, report, '2026-03-15', 12);
  for (const [path, csv] of await listFiles()) files[`list ${path}`] = csv;
  const lines: string[] = [];
  for (const [name, csv] of Object.entries(files)) {
    const { value: header } = await csv.next();
    lines.push(`${name}: ${header?.replace('\uFEFF', '').trim()}`);
  }
  await golden('csv-headers.txt', lines.sort());
});

/** Returns the path and the CSV file of each staff list that can be downloaded as CSV. */
async function listFiles(): Promise<[string, AsyncGenerator<string>][]> {
  const modules = import.meta.glob<Record<string, List>>('../app/admin/**/list.tsx', { eager: true });
  const lists = Object.values(modules).flatMap((module) => Object.values(module));
  const { runtime } = server;
  return lists.flatMap(({ path, source: { schema, csv } = {} }) =>
    csv ? [[path, csv(runtime.db, schema?.parse({}), runtime)] as [string, AsyncGenerator<string>]] : [],
  );
}

interface List {
  path: string;
  source?: {
    schema?: { parse(input: object): unknown };
    csv?(db: unknown, filters: unknown, runtime: unknown): AsyncGenerator<string>;
  };
}

test('the app’s pages, routes and HTTP methods equal their golden file', async () => {
  const pages = sources('app').flatMap((path) => /^app(.*)\/page\.tsx$/.exec(path)?.[1] ?? []);
  const routes = import.meta.glob<Record<string, unknown>>([
    '../app/**/route.ts',
    '../app/**/.well-known/**/route.ts',
  ]);
  const lines = pages.map((path) => `${path || '/'} page`);
  for (const [file, load] of Object.entries(routes)) {
    lines.push(`${file.slice('../app'.length, -'/route.ts'.length)} ${await methodsOf(await load())}`);
  }
  await golden('routes.txt', lines.sort());
});

/** Returns the methods of a route: those in the `Allow` header of a response, or else the exported ones. */
async function methodsOf(route: Record<string, unknown>): Promise<string> {
  for (const method of ['OPTIONS', 'PATCH', 'PUT']) {
    const handler = route[method];
    if (typeof handler !== 'function') continue;
    const request = new Request('http://localhost:3000/', { method });
    const answer: Response = await handler(request, { params: Promise.resolve({ path: [], id: '1' }) });
    const allow = answer.headers.get('allow');
    if (allow) return allow;
  }
  const methods = Object.keys(route).filter((name) => /^[A-Z]+$/.test(name));
  return methods.sort().join(', ');
}

/** Lists the TypeScript files in a folder, as paths from the root. */
function sources(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.tsx?$/.test(name)).map((name) => `${folder}/${name}`);
}

test('the response body of the health check equals its golden file', async () => {
  const answer = await fetch(`${server.url}/api/health`);
  await golden('health.txt', [JSON.stringify(await answer.json(), null, 2)]);
});

test('the action names of the audit log equal their golden file', async () => {
  const actions = new Set<string>();
  for (const path of sources('lib')) {
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(
      /\baction: ['`]([\w${}.]+\.[\w${}]+)['`]/g,
    )) {
      actions.add(name.replace(/\$\{[^}]+\}/g, '*'));
    }
  }
  await golden('audit-actions.txt', [...actions].sort());
});
