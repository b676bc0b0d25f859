import { afterAll, beforeAll, expect, test } from 'vitest';
import { receiveWebhooks } from '../support/alert-receivers';
import { ADMIN } from './support/company';
import { press, told } from './support/forms';
import { useSite } from './support/use-site';

let receiver: Awaited<ReturnType<typeof receiveWebhooks>>;
beforeAll(async () => {
  receiver = await receiveWebhooks();
});
afterAll(() => receiver.close());

const site = useSite('company', {
  as: ADMIN,
  fresh: true,
  env: () => ({
    ALERT_WEBHOOK_URL: receiver.url,
    ALERT_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  }),
});

test('the alert settings page shows whether a test alert was delivered', async () => {
  const page = await site.open('/admin/settings/alerts');
  await page.getByText(new URL(receiver.url).host).waitFor();
  await press(page, 'Send a test alert');
  await told(page, 'The test alert was delivered.');
  expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toContain('alert.test');

  receiver.status = 503;
  await press(page, 'Send a test alert');
  await page.getByText('The test alert was not delivered to every channel.').waitFor();
  const row = page.locator('tbody tr').filter({ hasText: 'sent a test alert' });
  expect(await row.textContent()).toContain('webhook: the receiver answered 503');
});
