import { Checkbox, Group, List, ListItem, SimpleGrid, Stack, Text } from '@mantine/core';
import { notFound } from 'next/navigation';
import { formatCount, formatField } from '@/app/_components/format';
import { LinkButton, TextLink } from '@/app/_components/links';
import { CustomerSearch } from '@/app/admin/_components/forms/customer-search/customer-search';
import { ChoiceGroup, SubmitButton } from '@/app/admin/_components/forms/form';
import { Section } from '@/app/admin/_components/page/section';
import { titleOfRow } from '@/app/admin/_components/page/title-of';
import { requireAdmin } from '@/lib/auth/staff-session';
import { getCustomer } from '@/lib/customers/queries';
import type { CustomerRow } from '@/lib/customers/schema';
import { getRuntime } from '@/lib/runtime';
import { type Comparison, compareCustomers } from '@/lib/sync/staff/merge-customers';
import { orNotFound } from '../../../../_components/or-not-found';
import { type SearchParams, toHref, toId, toParams } from '../../../../_components/search-params';
import { Notice } from '../../../_components/page/notice';
import { PageHeader } from '../../../_components/page/page-header';

import { merge } from '../../admin-actions';
import { CustomerFacts } from '../customer-facts';

export const generateMetadata = titleOfRow('Merge customers', async (db, id) => {
  const customer = await getCustomer(db, { id });
  return customer && `Merge ${customer.name || customer.customer_number}`;
});

const REFUSED = new Map([
  [
    'conflict',
    'Somebody else changed one of them meanwhile, so nothing was merged. These are the current versions.',
  ],
  ['not_found', 'One of them no longer exists, so nothing was merged.'],
]);

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

/** Looks for the customer that is the same as this one, and asks before the two become one. */
export default async function MergePage({ params, searchParams }: Props) {
  await requireAdmin();
  const id = toId((await params).id) ?? notFound();
  const query = toParams(await searchParams);
  const { db } = await getRuntime();
  const customer = (await getCustomer(db, { id })) ?? notFound();
  const to = toId(query.get('to') ?? '');
  const other = to === null ? null : await getCustomer(db, { id: to });
  const isSame = other?.id === customer.id;
  const path = `/admin/customers/${customer.id}/merge`;
  const refused = isSame ? 'That is the same customer.' : REFUSED.get(query.get('notice') ?? '');
  return (
    <>
      <PageHeader
        back={{ href: `/admin/customers/${customer.id}`, label: `Customer ${customer.customer_number}` }}
        title="Merge customers"
        description={[customer.name, customer.customer_number].filter(Boolean).join(' · ')}
      />
      {refused && <Notice tone="refused">{refused}</Notice>}
      {other && !isSame ? (
        <MergeQuestion
          comparison={await orNotFound(compareCustomers(db, { kept: customer.id, gone: other.id }))}
        />
      ) : (
        <Section title="Which customer is the same?">
          <CustomerSearch path={path} query={query.get('q')} />
        </Section>
      )}
    </>
  );
}

/** Two customers side by side, what a merge will do, and which fields the one that stays takes over. */
function MergeQuestion({ comparison: { kept, gone, differing, moving } }: { comparison: Comparison }) {
  const [stays, goes] = [kept.customer_number, gone.customer_number];
  const action = merge.bind(
    null,
    { id: gone.id, version: gone.version },
    { id: kept.id, version: kept.version },
  );
  const swapped = `${toHref(`/admin/customers/${gone.id}/merge`, { to: String(kept.id) })}#confirm`;
  const sentences = [
    moving.length > 0
      ? `These move from ${goes} to ${stays}: ${moving.map(({ noun, count }) => formatCount(count, noun)).join(', ')}.`
      : `${goes} has no records to move.`,
    `${goes} is no longer a customer. Its number then refers to ${stays}, here and at Stripe, and is never reused.`,
    'This cannot be undone.',
  ];
  return (
    <Stack gap="xl">
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="xl">
        <CustomerFacts title={`${stays} stays`} customer={kept} />
        <CustomerFacts title={`${goes} goes`} customer={gone} />
      </SimpleGrid>
      <div id="confirm" style={{ scrollMarginTop: 72 }}>
        <Section
          title={`Merge ${goes} into ${stays}?`}
          action={<TextLink href={swapped}>{`Keep ${goes} instead`}</TextLink>}
        >
          <form action={action}>
            <Stack p="md" gap="md">
              <List size="sm" spacing={4}>
                {sentences.map((sentence) => (
                  <ListItem key={sentence} className="break-anywhere">
                    {sentence}
                  </ListItem>
                ))}
              </List>
              {differing.length > 0 ? (
                <ChoiceGroup label={`Copy from ${goes}`}>
                  {differing.map((field) => (
                    <Checkbox
                      key={field}
                      name="take"
                      value={field}
                      label={`${formatField(field)}: ${textOf(gone, field)} instead of ${textOf(kept, field)}`}
                    />
                  ))}
                </ChoiceGroup>
              ) : (
                <Text size="sm" c="dimmed">{`${goes} has no details that ${stays} lacks.`}</Text>
              )}
              <Group gap="xs">
                <SubmitButton color="red.9">{`Merge ${goes} into ${stays}`}</SubmitButton>
                <LinkButton href={`/admin/customers/${kept.id}`} size="sm" variant="subtle">
                  Cancel
                </LinkButton>
              </Group>
            </Stack>
          </form>
        </Section>
      </div>
    </Stack>
  );
}

function textOf(customer: CustomerRow, field: Comparison['differing'][number]): string {
  const value = customer[field];
  if (field === 'tax_exempt') return value ? 'exempt' : 'charged';
  if (field === 'currency') return String(value).toUpperCase();
  return value ? String(value) : 'nothing';
}
