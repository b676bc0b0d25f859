import { randomBytes, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { commandActor } from '@/lib/audit/record-audit';
import { addStaffUser } from '@/lib/auth/staff/add-staff-user';
import { removeStaffUser } from '@/lib/auth/staff/remove-staff-user';
import { ensureBuild, NEXT } from '../../support/next-build';
import { SERVER } from '../database';
import { measuredBy, toMarkdown, writeSection } from '../performance-page';
import { GROWTH, openFilled } from '../scale/fill';
import { serveCopy } from '../serve';
import { FILES, PAGES } from './pages';

const TIMES = 5;
const MOST_MS = 300;
const ACTOR = commandActor('bench');
const PERSON = { email: `bench-${process.pid}@example.com`, password: 'correct horse battery staple' };

const only = process.env.BENCH_ONLY;
const wanted = (path: string) => only === undefined || path.includes(only);

await ensureBuild();
const { url, handle } = await openFilled(SERVER, GROWTH);
const world = { db: handle.db, now: () => new Date(), newId: randomUUID, randomBytes };
const server = await serveCopy(NEXT.cwd, url, { LOG_LEVEL: 'silent' });
try {
  await addStaffUser(world, { ...PERSON, role: 'admin' }, ACTOR);
  const cookie = await signIn();
  const found: [string, number][] = [];
  const note = (name: string, ms: number) => {
    found.push([name, ms]);
    console.log(`${ms > MOST_MS ? '!' : ' '} ${Math.round(ms).toString().padStart(6)} ms  ${name}`);
  };
  for (const { path, deep } of PAGES.filter((page) => wanted(page.path))) {
    const first = await timed(path, cookie);
    note(path, first.ms);
    const next = deep && nextOf(first.text);
    if (next) note(`${path}, next page`, (await timed(next, cookie)).ms);
  }
  for (const path of FILES.filter(wanted)) note(`${path}, first byte`, (await timed(path, cookie, true)).ms);
  if (only === undefined) await writeSection('Staff pages', toText(found));
} finally {
  await server.stop();
  await removeStaffUser(world, PERSON, ACTOR).catch(() => {});
  await handle.close();
}

async function signIn(): Promise<string> {
  const answer = await fetch(`${server.url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.url },
    body: JSON.stringify(PERSON),
  });
  if (!answer.ok) throw new Error(`signing in answered ${answer.status}`);
  return answer.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ');
}

/** Where the footer of a list leads. */
function nextOf(html: string): string | undefined {
  const link = html.match(/<a [^>]*>/g)?.find((tag) => tag.includes('rel="next"'));
  return /href="([^"]*)"/.exec(link ?? '')?.[1]?.replaceAll('&amp;', '&');
}

/** The median of some requests, after one that is not measured. */
async function timed(path: string, cookie: string, firstByte = false): Promise<{ ms: number; text: string }> {
  const times: number[] = [];
  let text = '';
  for (let time = 0; time <= TIMES; time += 1) {
    const begun = performance.now();
    const answer = await fetch(new URL(path, server.url), { headers: { cookie }, redirect: 'manual' });
    if (answer.status !== 200 && answer.status !== 307) throw new Error(`${path} answered ${answer.status}`);
    if (firstByte) {
      const reader = answer.body?.getReader();
      await reader?.read();
      times.push(performance.now() - begun);
      await reader?.cancel();
    } else {
      text = await answer.text();
      times.push(performance.now() - begun);
    }
  }
  const [, ...measured] = times;
  return { ms: measured.sort((a, b) => a - b)[Math.floor(TIMES / 2)] as number, text };
}

function toText(found: [string, number][]): string {
  const lines = found.map(([name, ms]) => [`\`${name}\``, ms.toFixed(0)]);
  return `Each list, order, filter and worklist of the staff pages over HTTP, the whole page, in milliseconds: the median of
${TIMES} requests after one that is not measured, with L (1,000,000 customers, 3,000,000 services, 500,000 subscriptions,
10,000,000 invoices, 10,000,000 payments, 1,000,000 sales documents, 2,000,000 events). It may be ${MOST_MS} at most.

${measuredBy('pages')}

${toMarkdown([['page', 'ms'], ...lines])}
`;
}
