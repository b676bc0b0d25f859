import { Checkbox, Group, List, ListItem, SimpleGrid, Stack, Text } from '@mantine/core';
import type { CustomerRow } from '@/lib/customers/schema';
import type { Comparison } from '@/lib/sync/staff/merge-customers';
import { formatCount, formatField } from '../../../../_components/format';
import { LinkButton, TextLink } from '../../../../_components/links';
import { toHref } from '../../../../_components/search-params';
import { ChoiceGroup } from '../../../_components/forms/choice-group';
import { SubmitButton } from '../../../_components/forms/submit-button';
import { Section } from '../../../_components/page/section';
import { CustomerFacts } from '../customer-facts';
import { merge } from './actions';

/** Two customers side by side, what a merge will do, and which fields the one that stays takes over. */
export function MergeQuestion({ comparison: { kept, gone, differing, moving } }: { comparison: Comparison }) {
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
