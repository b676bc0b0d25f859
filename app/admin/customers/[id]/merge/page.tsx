import { Checkbox, Group, List, ListItem, Stack, Text } from '@mantine/core';
import { formatCount, formatCustomer, formatField, joinTexts } from '@/app/_components/format';
import { LinkButton, TextLink } from '@/app/_components/links';
import { toHref, toId } from '@/app/_components/search-params';
import { getCustomerDetails } from '@/lib/customers/queries';
import type { CustomerDetails } from '@/lib/customers/schema';
import { type Comparison, compareCustomers } from '@/lib/sync/staff/merge-customers';
import { CustomerSearch } from '../../../_components/forms/customer-search/customer-search';
import { ChoiceGroup } from '../../../_components/forms/field';
import { OutcomeNotice } from '../../../_components/forms/record/record-notice';
import { SubmitButton } from '../../../_components/forms/submit-button';
import {
  adminRecordPage,
  Columns,
  orNotFound,
  PageHeader,
  Section,
  titleOfRow,
} from '../../../_components/page/staff-page';
import { CustomerFacts } from '../../../_components/records/customer-facts';
import { merge } from '../../admin-actions';
import { readCustomer } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Merge customers',
  readCustomer,
  (one) => `Merge ${formatCustomer(one)}`,
);

/** Lets an admin find the duplicate of a customer, and asks for confirmation before the merge. */
export default adminRecordPage(readCustomer, async (customer, { db, search, notice }) => {
  const to = toId(search.get('to') ?? '');
  const other = to === null ? null : await getCustomerDetails(db, { id: to });
  const isSame = other?.id === customer.id;
  const page = `/admin/customers/${customer.id}`;
  return (
    <>
      <PageHeader
        back={{ href: page, label: `Customer ${customer.customer_number}` }}
        title="Merge customers"
        description={joinTexts(customer.name, customer.customer_number)}
      />
      <OutcomeNotice notice={isSame ? 'same' : notice} done={{}} refused={REFUSED} />
      {other && !isSame ? (
        <MergeQuestion
          comparison={await orNotFound(compareCustomers(db, { kept: customer.id, gone: other.id }))}
        />
      ) : (
        <Section title="Which customer is the duplicate?">
          <CustomerSearch path={`${page}/merge`} query={search.get('q')} />
        </Section>
      )}
    </>
  );
});

const REFUSED = {
  same: 'Choose a different customer: this one cannot be merged with itself.',
  conflict:
    'Someone else changed or erased one of the customers in the meantime, so nothing was merged. These are the current versions.',
  not_found: 'One of the customers no longer exists, so nothing was merged.',
};

/** Shows two customers side by side, the effects of the merge, and a choice of fields for the remaining customer. */
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
      ? `These records move from ${goes} to ${stays}: ${moving.map(({ noun, count }) => formatCount(count, noun)).join(', ')}.`
      : `${goes} has no records to move.`,
    `${goes} is no longer a customer. Its number then refers to ${stays}, here and at Stripe, and is never reused.`,
    'This cannot be undone.',
  ];
  return (
    <Stack gap="xl">
      <Columns>
        <CustomerFacts title={`${stays} stays`} customer={kept} />
        <CustomerFacts title={`${goes} goes`} customer={gone} />
      </Columns>
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
                <Text
                  size="sm"
                  c="dimmed"
                >{`${goes} has no details to copy: all are empty or the same as in ${stays}.`}</Text>
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

function textOf(customer: CustomerDetails, field: Comparison['differing'][number]): string {
  const value = customer[field];
  if (field === 'tax_exempt') return value ? 'exempt' : 'charged';
  if (field === 'currency') return String(value).toUpperCase();
  return value ? String(value) : 'nothing';
}
