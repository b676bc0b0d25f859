import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as signInRoute from '@/app/api/auth/sign-in/[...path]/route';
import * as uploadRoute from '@/app/api/uploads/route';
import { company } from '@/db/schema';
import { commandActor } from '@/lib/audit/audit-log';
import { addStaffUser } from '@/lib/staff/manage-staff';
import { MAX_UPLOAD_BYTES, UPLOAD_PATH } from '@/lib/uploads/upload-limits';
import { deleteFolder, listFolders, listUploads } from '@/lib/uploads/upload-store';
import { useApi } from '../support/api';
import { head, openRaw } from '../support/raw-connection';
import { temporaryFolder } from '../support/run-command';
import { GRACE, quickHash, SECRET, useHash } from '../support/sign-in';

const SIGN_IN = '/api/auth/sign-in/email';
const ADMIN = { email: 'root@example.com', password: 'correct horse battery', role: 'admin' } as const;
const dataDir = temporaryFolder();
const folder = join(dataDir, 'imports');

useHash(quickHash);
const server = useApi(
  { [UPLOAD_PATH]: uploadRoute, [SIGN_IN]: signInRoute },
  { BETTER_AUTH_SECRET: SECRET, DATA_DIR: dataDir },
);
const cookies = { admin: '', staff: '' };
beforeAll(async () => {
  for (const who of [ADMIN, GRACE]) await addStaffUser(server.runtime, who, commandActor('test'));
  cookies.admin = await signIn(ADMIN);
  cookies.staff = await signIn(GRACE);
});
beforeEach(async () => {
  for (const id of await listFolders(dataDir)) await deleteFolder(dataDir, id);
});

async function signIn(who: { email: string; password: string }): Promise<string> {
  const answer = await fetch(server.url + SIGN_IN, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(who),
  });
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

const CUSTOMERS = 'kind=customers&name=c.csv';

const upload = (body: BodyInit, query = CUSTOMERS, cookie = cookies.admin) =>
  fetch(`${server.url}${UPLOAD_PATH}?${query}`, {
    method: 'POST',
    headers: { origin: server.url, cookie },
    body,
    duplex: 'half',
  } as RequestInit);
/** Uploads a file. @returns the status and the explanation in the response */
const answerTo = async (...given: Parameters<typeof upload>) => {
  const answer = await upload(...given);
  return [answer.status, (await answer.json()).detail];
};

/** Opens a connection and begins an upload by the admin. Headers with an empty value are not sent. */
function begin(query: string, headers: Record<string, string | number>, body = '') {
  const { host, port } = new URL(server.url);
  const all = { Host: host, Origin: server.url, Cookie: cookies.admin, 'Content-Length': 1000, ...headers };
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
  return openRaw(Number(port), head(`POST ${UPLOAD_PATH}?${query}`, sent) + body);
}

describe('bank statements', () => {
  const query = 'kind=bank_statement&name=n26.csv';
  /** Returns an N26 CSV file with two credits, each with a text of this length. */
  const csv = (length: number) =>
    `"Booking Date","Value Date","Partner Name","Partner Iban","Payment Reference","Amount (EUR)"
"2026-10-01","2026-10-01","Ada","","${'x'.repeat(length)}","1.00"
"2026-10-02","2026-10-02","Ada","","${'x'.repeat(length)}","2.00"`;
  beforeAll(async () => {
    const set = { iban: 'DE02120300000000202051', small_business: false };
    await server.runtime.db.insert(company).values(set).onConflictDoUpdate({ target: company.id, set });
  });

  test('staff without admin rights can upload a large bank statement, and a second upload is reported as known', async () => {
    const first = await upload(csv(2_500_000), query, cookies.staff);
    const stored = { id: expect.any(Number), isKnown: false, booked: 0 };
    expect([first.status, await first.json()]).toEqual([201, stored]);
    const again = await upload(csv(2_500_000), query, cookies.staff);
    expect(await again.json()).toMatchObject({ isKnown: true });
    expect(await listFolders(dataDir)).toEqual([]);
  });

  test.each([
    ['above 10 MB', 'x'.repeat(10_000_001), query, 413, 'can have up to 10 MB'],
    ['in no known format', 'a,b\n1,2', query, 422, 'not a statement'],
    ['with an unknown parameter', csv(1), `${query}&dry_run=1`, 422, 'is not known'],
  ])('a bank statement %s is refused with a reason', async (_, body, parameters, status, text) => {
    const answer = await upload(body, parameters, cookies.staff);
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(text)]);
  });

  test('a connection stays usable after a bank statement that is too large', async () => {
    const size = 10_000_001;
    const { socket, text } = begin(query, { 'Content-Length': size }, 'x'.repeat(size));
    socket.write(head(`GET ${UPLOAD_PATH}`));
    await expect.poll(text).toMatch(/^HTTP\/1.1 413 .+HTTP\/1.1 405 /s);
    socket.destroy();
  });

  test('uploading a bank statement without a session is refused', async () => {
    expect((await upload(csv(1), query, '')).status).toBe(401);
  });
});

test.each<[string, () => Record<string, string | number>, number, string]>([
  ['no session', () => ({ Cookie: '' }), 401, 'You are not signed in'],
  ['a forged cookie', () => ({ Cookie: 'w5t.session_token=a.b' }), 401, 'You are not signed in'],
  ['a session without admin rights', () => ({ Cookie: cookies.staff }), 403, 'Only admins can import'],
  ['the Origin of another site', () => ({ Origin: 'https://evil.example' }), 403, 'own pages'],
  ['the Origin null', () => ({ Origin: 'null' }), 403, 'own pages'],
  ['no Origin', () => ({ Origin: '' }), 403, 'own pages'],
  ['a body over the size limit', () => ({ 'Content-Length': MAX_UPLOAD_BYTES + 1 }), 413, '200 MB'],
])('an upload with %s is refused before its body is read', async (_, headers, status, reason) => {
  const { socket, text } = begin(CUSTOMERS, headers());
  await expect.poll(text).toContain(reason);
  expect(text()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  socket.destroy();
  expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
});

describe('uploads of an admin', () => {
  test('an uploaded file is readable only by the user of the server process', async () => {
    const answer = await upload('customer_number\nK1\n', 'kind=customers&name=K%C3%BCnden%25.csv');
    expect(answer.status).toBe(201);
    const { id } = (await answer.json()) as { id: string };
    const path = join(folder, id, 'file', 'Künden%.csv');
    expect(readFileSync(path, 'utf8')).toBe('customer_number\nK1\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    for (const one of [folder, join(folder, id), join(folder, id, 'file')]) {
      expect(statSync(one).mode & 0o777).toBe(0o700);
    }
    expect(await listUploads(dataDir)).toMatchObject([
      { id, kind: 'customers', file_name: 'Künden%.csv', bytes: 19, uploaded_by: ADMIN.email },
    ]);
  });

  test.each([
    ['../../../etc/passwd', '-..-..-etc-passwd'],
    ['..', 'upload.csv'],
    ['.hidden.csv', 'hidden.csv'],
    ['a"b\\c\n.csv', 'a-b-c-.csv'],
    [`${'ä'.repeat(300)}.csv`, `${'ä'.repeat(88)}.csv`],
  ])('an uploaded file named %j is stored under a safe name', async (name, kept) => {
    await upload('a', String(new URLSearchParams({ kind: 'customers', name })));
    expect(await listUploads(dataDir)).toMatchObject([{ file_name: kept }]);
  });

  test('an upload that exceeds the size limit is deleted', async () => {
    let left = MAX_UPLOAD_BYTES / 1e6 + 1;
    const body = new ReadableStream({
      pull(controller) {
        if (left === 0) return controller.close();
        left -= 1;
        controller.enqueue(new Uint8Array(1_000_000));
      },
    });
    // Send a stream, so that the request has no Content-Length.
    expect(await answerTo(body)).toEqual([413, expect.stringContaining('200 MB')]);
    expect(readdirSync(folder)).toEqual([]);
  }, 60_000);

  test('a truncated upload is deleted', async () => {
    const { socket } = begin(CUSTOMERS, {}, 'abc');
    await expect.poll(() => readdirSync(folder)).toHaveLength(1);
    socket.destroy();
    await expect.poll(() => readdirSync(folder)).toEqual([]);
  });

  test('an empty file, and an upload with an invalid query, are refused', async () => {
    expect((await upload('')).status).toBe(422);
    for (const query of ['', 'kind=tokens&name=c.csv', `${CUSTOMERS}&dry_run=1`]) {
      expect((await upload('a', query)).status, query).toBe(422);
    }
  });

  test('only ten of 15 concurrent uploads are accepted, and the refusals say to remove a file', async () => {
    const answers = await Promise.all(Array.from({ length: 15 }, () => answerTo('a')));
    const refused = Array(5).fill([409, expect.stringContaining('remove one')]);
    expect(answers.sort()).toEqual([...Array(10).fill([201, undefined]), ...refused]);
    expect(await listFolders(dataDir)).toHaveLength(10);
  });
});
