import { Anchor, Button, Group, List, ListItem, NativeSelect, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { toCalendarDate } from '@/lib/dates';
import { calendarMonth } from '@/lib/exports/accounting-csv';
import { type DatevPlan, datevName, planDatev } from '@/lib/exports/datev';
import { EXPORT_NAMES } from '@/lib/exports/export-csv';
import { formatCount, formatKind } from '../../_components/format';
import { TextLink } from '../../_components/links';
import { Page, Section, staffPage } from '../_components/page/staff-page';

export const metadata = { title: 'Export' };

export default staffPage(async ({ runtime: { env, now }, db, search, staff }) => {
  const kinds = EXPORT_NAMES.map((value) => ({ value, label: formatKind(value) }));
  const months = latestMonths(toCalendarDate(now(), env.timeZone));
  const [running = '', last] = months.map(({ value }) => value);
  const month = calendarMonth.safeParse(search.get('datev')).data;
  return (
    <Page title="Export" description="Everything as CSV, with the columns that an import accepts.">
      <ExportForm
        title="Records"
        path="/admin/export/records"
        fields={[{ name: 'kind', label: 'Kind', data: kinds }]}
      />
      <ExportForm
        title="Accounting"
        path="/admin/export/accounting"
        fields={[{ name: 'month', label: 'Month', data: months, defaultValue: last }, FORM]}
      >
        <Text size="sm">
          The postings of a month: invoices (one row for each tax rate), payments and returned payments. Once
          the month is over, its file no longer changes: anything recorded later is posted in a later month.{' '}
          {NOT_OVER}
        </Text>
      </ExportForm>
      <ExportForm
        title="Documents"
        path="/admin/export/documents"
        fields={[{ name: 'month', label: 'Month', data: months }]}
        submit="Download zip"
      >
        <Text size="sm">
          The PDF and the XRechnung of each invoice, credit note and cancellation of a month. A text file
          lists those without a document.
        </Text>
      </ExportForm>
      <ExportForm
        title="DATEV"
        path="/admin/export"
        fields={[{ name: 'datev', label: 'Month', data: months, defaultValue: month ?? last }]}
        submit="Check"
        result={
          month ? (
            <>
              {month >= running && <Text size="sm">{NOT_OVER}</Text>}
              <DatevMonth month={month} plan={await planDatev(db, month)} isAdmin={staff.role === 'admin'} />
            </>
          ) : null
        }
      >
        <Text size="sm">A month’s postings in euros, for DATEV accounting software.</Text>
      </ExportForm>
    </Page>
  );
});

const NOT_OVER =
  'The entries of a month may still change until the month is over. Export it for the tax adviser after that.';

const FORM = {
  name: 'form',
  label: 'Format',
  data: [
    { value: 'comma', label: 'Commas, and a decimal point' },
    { value: 'semicolon', label: 'Semicolons, and a decimal comma' },
  ],
};

interface SelectField {
  name: string;
  label: string;
  data: { value: string; label: string }[];
  defaultValue?: string | undefined;
}

interface Props {
  title: string;
  path: string;
  fields: SelectField[];
  /** Label of the submit button. */
  submit?: string;
  /** Content to show after the form was sent, and null before that. If absent, the form downloads a file. */
  result?: ReactNode;
  children?: ReactNode;
}

/** Shows an export form. It is a plain HTML form, because Next's router would treat a file as a page. */
function ExportForm({ title, path, fields, submit = 'Download CSV', result, children }: Props) {
  return (
    <Section title={title}>
      <form action={path} method="get" aria-label={title}>
        <Stack gap="sm" p="md">
          {children}
          <Group gap="sm" align="flex-end">
            {fields.map((field) => (
              <NativeSelect key={field.name} {...field} size="sm" />
            ))}
            <Button
              type="submit"
              size="sm"
              variant="default"
              leftSection={result === undefined && <IconDownload size={16} stroke={1.8} aria-hidden />}
            >
              {submit}
            </Button>
          </Group>
          {result}
        </Stack>
      </form>
    </Section>
  );
}

/**
 * Shows a link to a month's DATEV file, or the missing settings that the file needs. Also counts the entries that the
 * file omits, and names the first of them.
 */
function DatevMonth({ month, plan, isAdmin }: { month: string; plan: DatevPlan; isAdmin: boolean }) {
  const { postings, missing, leftOut, leftOutCount } = plan;
  return (
    <Stack gap="xs">
      {missing.length > 0 ? (
        <Text size="sm">
          {`The file needs these settings: ${missing.join(', ')}. `}
          {isAdmin ? (
            <TextLink href="/admin/settings/accounting">Fill in the accounts</TextLink>
          ) : (
            'An admin can fill them in.'
          )}
        </Text>
      ) : (
        <Anchor href={`/admin/export/datev?month=${month}`} size="sm" fw={500} download>
          {`${datevName(month)}.csv, ${formatCount(postings, 'posting')}`}
        </Anchor>
      )}
      {leftOutCount > 0 && (
        <Text size="sm">{`${formatCount(leftOutCount, 'entry', 'entries')} cannot be in the file:`}</Text>
      )}
      {leftOut.length > 0 && (
        <List size="sm">
          {[...new Set(leftOut)].map((text) => (
            <ListItem key={text}>{text}</ListItem>
          ))}
        </List>
      )}
    </Stack>
  );
}

const MONTHS = 36;

/** Returns the running month and the months before it as options of a select, the latest first. */
function latestMonths(today: string): { value: string; label: string }[] {
  const [year = 0, month = 1] = today.split('-').map(Number);
  return Array.from({ length: MONTHS }, (_, back) => {
    const value = new Date(Date.UTC(year, month - 1 - back, 1)).toISOString().slice(0, 7);
    return { value, label: back === 0 ? `${value} (not over yet)` : value };
  });
}
