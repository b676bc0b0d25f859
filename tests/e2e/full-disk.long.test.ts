import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { press, told } from './support/forms';
import { useSite } from './support/use-site';

// Use a fresh site, because the test restarts the server twice.
const site = useSite('company', { fresh: true });

test('a customer form keeps the typed values when the database disk is full', async () => {
  site.allowComplaints(/500|React error #441/);
  await site.restart(async (db) => {
    await db.execute(sql`create function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`);
    await db.execute(
      sql`create trigger no_room before update on customers for each row execute function no_room()`,
    );
  });
  const page = await site.open(`/admin/customers/${site.facts.form.customer}/edit`, { own: true });
  await page.getByLabel('Phone', { exact: true }).fill('+49 30 1');
  await press(page, 'Save');
  await page.getByText('The disk of the database is full, so nothing was saved.').waitFor();
  await site.restart((db) => db.execute(sql`drop function no_room cascade`).then(() => {}));
  await press(page, 'Try again');
  expect(await page.getByLabel('Phone', { exact: true }).inputValue()).toBe('+49 30 1');
  await press(page, 'Save');
  await told(page, 'Your changes are saved.');
});
