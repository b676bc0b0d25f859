import { Alert, Group, List, ListItem, Stack, Text } from '@mantine/core';
import { formatCount, formatCustomer } from '@/app/_components/format';
import { LinkButton, TextLink } from '@/app/_components/links';
import { toId } from '@/app/_components/search-params';
import { listAuditOf } from '@/lib/audit/audit-log';
import { findErasedAt, getCustomer } from '@/lib/customers/queries';
import type { CustomerRow, CustomerSnippet } from '@/lib/customers/schema';
import { getRuntime } from '@/lib/runtime';
import { getStripeCustomer, listItemsOfOthers, listSameEmail } from '@/lib/sync/staff/stripe-customers';
import { AuditTrail, withoutFields } from '../../../_components/audit/audit-trail';
import { StripeId } from '../../../_components/display/stripe-id';
import { Dimmed } from '../../../_components/display/values';
import { CustomerSearch } from '../../../_components/forms/customer-search/customer-search';
import { OutcomeNotice } from '../../../_components/forms/record/record-notice';
import { SubmitButton } from '../../../_components/forms/submit-button';
import {
  Columns,
  orNotFound,
  Page,
  Section,
  staffPage,
  stripeIdIn,
  titleOf,
} from '../../../_components/page/staff-page';
import { CustomerSection } from '../../../_components/records/customer-link';
import { linkTo } from '../../actions';
import { LINKED_BY } from '../../subscription-list';

export const generateMetadata = titleOf('Stripe customer', async (id, { runtime }) => {
  const { stripe_customer_id } = await getStripeCustomer(runtime.db, id);
  return `Stripe customer ${stripe_customer_id}`;
});

const REFUSED = {
  conflict: 'It was linked to another customer in the meantime, so nothing moved. This is its current link.',
  validation_failed:
    'Nothing moved: the chosen customer no longer exists, or one of the two customers was erased.',
  erased: 'An erased customer cannot get Stripe customers: choose another one.',
};

export default staffPage<{ id: string }>(async ({ params, db, timeZone, search, notice }) => {
  const id = stripeIdIn(params);
  const held = await orNotFound(getStripeCustomer(db, id));
  const { customer, linked_by } = held;
  const to = toId(search.get('to') ?? '');
  const isFixed = (await findErasedAt(db, held.customer_id)) !== null;
  const chosen = to && !isFixed ? await getCustomer(db, { id: to }) : null;
  const isErased = chosen !== null && (await findErasedAt(db, chosen.id)) !== null;
  const target = isErased ? null : chosen;
  const history = await listAuditOf(db, 'stripe_customer', 'stripe_customer_id', id);
  const same = linked_by === 'created' ? await listSameEmail(db, held.customer_id) : [];
  const path = `/admin/subscriptions/stripe-customers/${id}`;
  return (
    <Page
      back={{ href: `/admin/subscriptions?id=${id}`, label: 'Its subscriptions' }}
      title="Stripe customer"
      description={<StripeId id={id} />}
      notice={
        <>
          <OutcomeNotice
            notice={isErased ? 'erased' : notice}
            done={{ linked: `It is linked to ${formatCustomer(customer)}.` }}
            refused={REFUSED}
          />
          {linked_by === 'created' && <IsNew id={id} customerId={customer.id} same={same} />}
          {linked_by === 'email' && <IsSame id={id} customer={customer} />}
        </>
      }
    >
      <Columns>
        <CustomerSection
          title="Linked to"
          customer={customer}
          more={{ 'Matched by': LINKED_BY[linked_by] }}
        />
        <Section
          title="Records linked to it"
          action={<TextLink href={`/admin/webhooks?id=${id}`}>Events</TextLink>}
          facts={{ Subscriptions: held.subscriptions, Invoices: held.invoices, Payments: held.payments }}
        />
      </Columns>
      {target ? (
        <div id="confirm" style={{ scrollMarginTop: 72 }}>
          <Section title={`Link it to ${formatCustomer(target)}?`}>
            <Confirmation held={held} target={target} path={path} />
          </Section>
        </div>
      ) : (
        <Section
          title="Link it to another customer"
          none={isFixed && 'An erased customer keeps its Stripe customers.'}
        >
          <CustomerSearch path={path} query={search.get('q')} />
        </Section>
      )}
      {history.length > 0 && (
        <Section title="History">
          <AuditTrail entries={withoutFields(history, 'customer_id')} timeZone={timeZone} />
        </Section>
      )}
    </Page>
  );
});

interface IsNewProps {
  id: string;
  customerId: number;
  /** Up to ten other customers with the same e-mail address. */
  same: Awaited<ReturnType<typeof listSameEmail>>;
}

/** Asks whether a customer that the Stripe sync created is really new. */
function IsNew({ id, customerId, same }: IsNewProps) {
  return (
    <Alert color="orange" variant="light" mb="lg" title="This customer was created from Stripe">
      <Text size="sm">
        No customer had its number. Confirm that it is new, or link it to an existing customer.
        {same.length > 0 && ' Payers type their e-mail address, so a match does not prove who paid.'}
      </Text>
      <Group mt="sm">
        {same.map(({ id: to, customer_number, name, is_created }) => (
          <form key={to} action={linkTo.bind(null, id, { from: customerId, to })}>
            <SubmitButton>
              {`It is ${name ? `${name} (${customer_number})` : customer_number}, same e-mail${is_created ? ', also created from Stripe' : ''}`}
            </SubmitButton>
          </form>
        ))}
        <form action={linkTo.bind(null, id, { from: customerId, to: customerId })}>
          <SubmitButton variant="default">It is a new customer</SubmitButton>
        </form>
      </Group>
    </Alert>
  );
}

/** Asks whether a Stripe customer belongs to the customer with the same e-mail address. */
function IsSame({ id, customer }: { id: string; customer: CustomerSnippet }) {
  return (
    <Alert color="orange" variant="light" mb="lg" title="Matched by e-mail address only">
      <Text size="sm" mb="sm">
        Payers type their e-mail address. Until you confirm the link or choose another customer below, its
        subscriptions set no billing dates.
      </Text>
      <form action={linkTo.bind(null, id, { from: customer.id, to: customer.id })}>
        <SubmitButton>{`It is ${customer.name || customer.customer_number}`}</SubmitButton>
      </form>
    </Alert>
  );
}

type StripeCustomer = Awaited<ReturnType<typeof getStripeCustomer>>;

interface Props {
  held: StripeCustomer;
  target: CustomerRow;
  path: string;
}

/** Shows what linking the Stripe customer to `target` would change, and asks for confirmation. */
async function Confirmation({ held, target, path }: Props) {
  const { db } = await getRuntime();
  const { stripe_customer_id: id, customer_id: from } = held;
  const stays = from === target.id;
  const unlinked = stays ? [] : await listItemsOfOthers(db, id, target.id);
  const numbers = [...new Set(unlinked.map(({ service_number }) => service_number))];
  const sentences = stays
    ? [`It stays with ${nameOf(target)}. Nothing moves.`]
    : movesOf(held, target, numbers);
  return (
    <Stack p="md" gap="sm">
      <List size="sm" spacing={4}>
        {[...sentences, 'Later reports from Stripe do not change your decision.'].map((sentence) => (
          <ListItem key={sentence} className="break-anywhere">
            {sentence}
          </ListItem>
        ))}
      </List>
      <Group gap="xs">
        <form action={linkTo.bind(null, id, { from, to: target.id })}>
          <SubmitButton>{stays ? 'Confirm the link' : `Link to ${target.customer_number}`}</SubmitButton>
        </form>
        <LinkButton href={path} size="sm" variant="subtle">
          Cancel
        </LinkButton>
      </Group>
      {target.status !== 'active' && <Dimmed>{`${nameOf(target)} is ${target.status}.`}</Dimmed>}
    </Stack>
  );
}

function movesOf(held: StripeCustomer, target: CustomerRow, unlinked: string[]): string[] {
  const { customer } = held;
  const moving = [
    formatCount(held.subscriptions, 'subscription'),
    formatCount(held.invoices, 'invoice'),
    formatCount(held.payments, 'payment'),
  ];
  return [
    `${moving.join(', ').replace(/, (?=[^,]*$)/, ' and ')} move from ${nameOf(customer)} to ${nameOf(target)}.`,
    `Services and documents stay with ${nameOf(customer)}.`,
    ...(unlinked.length > 0 ? [`Items are no longer linked to ${listOf(unlinked)}.`] : []),
    ...(held.linked_by === 'created'
      ? [
          `${customer.customer_number} was created for this Stripe customer: it is deleted if it has no other records.`,
        ]
      : []),
  ];
}

/** Lists the first ten service numbers, and says how many more there are. */
function listOf(numbers: string[]): string {
  const more = numbers.length - 10;
  return more > 0
    ? `${numbers.slice(0, 10).join(', ')} and ${formatCount(more, 'more service')}`
    : numbers.join(', ');
}

function nameOf({ name, customer_number }: { name: string; customer_number: string }): string {
  return name ? `${name} (${customer_number})` : customer_number;
}
