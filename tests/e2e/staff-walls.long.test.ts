import { expect, test } from 'vitest';
import { ADMIN, STAFF } from './support/company';
import { DATA, FORGED, listAdminRoutes, ROUTER_HEADERS } from './support/server-actions';
import { useSite } from './support/use-site';

const site = useSite('https', { as: ADMIN });
const routes = listAdminRoutes('1');

test('no staff route returns data to a Next.js router request with a forged session', async () => {
  for (const { path } of routes) {
    for (const headers of ROUTER_HEADERS) {
      const answer = await site.fetch(path, { as: null, headers: { ...headers, cookie: FORGED } });
      expect(await answer.text()).not.toMatch(DATA);
    }
  }
});

test('no route that is open to all staff answers staff without admin rights with 403 or the sign-in page', async () => {
  for (const { path } of routes.filter(({ forAdmins }) => !forAdmins)) {
    const answer = await site.fetch(path, { as: STAFF });
    const isSignIn = (answer.headers.get('location') ?? '').includes('/sign-in');
    expect([path, answer.status === 403, isSignIn]).toEqual([path, false, false]);
  }
});
