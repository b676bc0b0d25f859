import { toCalendarDate } from '@/lib/dates';
import {
  listOverdue,
  OVERDUE_AGES,
  type OverdueInvoice,
  overdueCsv,
  overdueFilters,
} from '@/lib/invoices/overdue-worklist';
import type { ListDeclaration } from '../_components/lists/list-declaration';
import { ageText } from './age-text';
import { OverdueList } from './overdue-list';

export const OVERDUE = {
  title: 'Overdue invoices',
  description: 'The longest overdue first.',
  path: '/admin/overdue',
  noun: 'overdue invoice',
  yet: 'Invoices appear here the day after their due date, or when a payment fails.',
  schema: overdueFilters,
  fields: () => [
    {
      name: 'age',
      label: 'Age',
      options: [...OVERDUE_AGES, 'over-30' as const].map((value) => ({ value, label: ageText(value) })),
    },
    { name: 'currency', label: 'Currency', placeholder: 'Code, such as EUR' },
  ],
  read: ({ db, env, now }, filters, { start }) =>
    listOverdue(db, filters, toCalendarDate(now(), env.timeZone), start),
  Rows: ({ rows, timeZone }) => <OverdueList invoices={rows} timeZone={timeZone} />,
  csv: ({ db, env, now }, filters) => overdueCsv(db, filters, toCalendarDate(now(), env.timeZone)),
} satisfies ListDeclaration<typeof overdueFilters, OverdueInvoice>;
