import { expect, test } from 'vitest';
import { serverUrl } from '@/db/server-url';

const HOST = 'postgres://u:p@h:5432/d';

test.each([
  ['', ''],
  ['?sslmode=require', '?sslmode=require'],
  ['?channel_binding=require', ''],
  ['?channel_binding=require&sslmode=require', '?sslmode=require'],
  ['?sslmode=require&channel_binding=require', '?sslmode=require'],
  ['?sslmode=require&pgbouncer=true&application_name=a%26b', '?sslmode=require&application_name=a%26b'],
])('%j reaches the server as %j', (given, kept) => {
  expect(serverUrl(`${HOST}${given}`)).toBe(`${HOST}${kept}`);
});

test('a password with & stays as it is', () => {
  for (const url of ['postgres://u:p&w@h/d', 'postgres://u:p&pgbouncer=1@h/d']) {
    expect(serverUrl(url)).toBe(url);
  }
});
