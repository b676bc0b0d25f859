import { toCalendarDate } from '@/lib/dates';
import { getReminderRules } from '@/lib/documents/reminder-letter';
import { countReminders, LEVELS, MAX_REMINDERS } from '@/lib/invoices/reminders';
import { formatNumber } from '../../../_components/format';
import { LinkButton } from '../../../_components/links';
import { withParams } from '../../../_components/with-params';
import { ListPage } from '../../_components/lists/list-page';
import { Choice } from '../../_components/lists/paged-list';
import { staffPage } from '../../_components/page/staff-page';
import { LEVEL_TEXTS, OverdueViews, REMINDERS } from '../list';

export const metadata = { title: REMINDERS.title };

/**
 * Shows the customers who are due for a reminder of the chosen level. If the URL names neither a level nor a customer,
 * the page chooses the highest level that has customers.
 */
export default staffPage(async ({ db, staff, timeZone, search, runtime: { now } }) => {
  const rules = await getReminderRules(db);
  const counts = await countReminders(db, rules, toCalendarDate(now(), timeZone));
  if (!search.has('level') && !search.has('customer')) {
    search.set('level', LEVELS.findLast((_, at) => (counts[at] ?? 0) > 0) ?? '1');
  }
  return (
    <ListPage
      list={REMINDERS}
      search={search}
      notice={<OverdueViews current="reminders" />}
      actions={
        staff.role === 'admin' && (
          <LinkButton href="/admin/settings/reminders" variant="default" size="sm">
            Settings
          </LinkButton>
        )
      }
    >
      <Choice
        label="Level"
        mb="md"
        current={search.get('level') ?? ''}
        options={LEVELS.map((value, at) => ({
          value,
          text: `${LEVEL_TEXTS[value]} (${countText(counts[at] ?? 0)})`,
          href: withParams(REMINDERS.path, search, { level: value, after: null, before: null }),
        }))}
      />
    </ListPage>
  );
});

const countText = (count: number) =>
  count > MAX_REMINDERS ? `more than ${formatNumber(MAX_REMINDERS)}` : formatNumber(count);
