'use client';

import { IconSearch } from '@tabler/icons-react';
import { usePathname, useRouter } from 'next/navigation';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { Link } from '@/app/_components/links';
import { StatusBadge } from '../display/values';
import { navigationFor } from '../page/navigation';
import { mayLeave } from '../page/unsaved-forms';
import { type Answered, useAnswer } from '../page/use-answer';
import classes from './search.module.css';
import { SEARCHED, type SearchAnswer, type SearchEntry } from './to-entry';

const NOTHING: SearchAnswer = { groups: [] };

/** Shows a search field and its results. Arrow keys select a result, as in the ARIA pattern for a combobox. */
export function SearchBox({ isAdmin, close }: { isAdmin: boolean; close(): void }) {
  const router = useRouter();
  const listId = useId();
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  const text = typed.trim();
  const searched = useAnswer('/admin/search/results', text, NOTHING);
  const found = searched?.answer?.groups ?? [];
  const groups = [...found, ...pageEntries(text, isAdmin)];
  const pageOfAll = `/admin/search?${new URLSearchParams({ q: text })}`;
  const hrefs = groups.flatMap(({ entries }) => entries.map(({ href }) => href));
  if (text !== '') hrefs.push(pageOfAll);
  const isCurrent = searched?.text === text;
  const hasOptions = groups.length > 0;

  function go(href: string) {
    if (!mayLeave()) return;
    close();
    router.push(href);
  }

  function press(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      // While the results are loading, go to the search page, which opens the record if the text matches it exactly.
      if (text !== '' || active > 0) go(((isCurrent || text === '') && hrefs[active]) || pageOfAll);
    } else if (step && hasOptions) {
      event.preventDefault();
      setActive((active + step + hrefs.length) % hrefs.length);
    }
  }

  return (
    <>
      <form action="/admin/search" className={classes.field}>
        <IconSearch size={18} stroke={1.8} aria-hidden />
        <input
          // biome-ignore lint/a11y/noAutofocus: the dialog exists only for this field
          autoFocus
          name="q"
          className={classes.input}
          role="combobox"
          aria-label="Search"
          aria-expanded={hasOptions}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={hasOptions ? optionId(listId, active) : undefined}
          placeholder="Customers, invoices, amounts, pages"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          enterKeyHint="search"
          maxLength={200}
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setActive(0);
          }}
          onKeyDown={press}
        />
        <button type="button" className={classes.escape} onClick={close} aria-label="Close the search" />
      </form>
      <SearchOptions
        id={listId}
        groups={hasOptions ? groups : []}
        active={active}
        isStale={text !== '' && !isCurrent}
        pageOfAll={pageOfAll}
        text={text}
        close={close}
      />
      <SearchMessage text={text} searched={searched} />
    </>
  );
}

interface SearchOptionsProps {
  id: string;
  groups: SearchAnswer['groups'];
  /** Index of the selected option, counted across all groups. */
  active: number;
  /** Whether the results belong to an earlier text. */
  isStale: boolean;
  pageOfAll: string;
  text: string;
  close(): void;
}

/** Shows the results as options. If a text was typed, the last option leads to the page with all results. */
export function SearchOptions({ id, groups, active, isStale, pageOfAll, text, close }: SearchOptionsProps) {
  useEffect(() => {
    document.getElementById(optionId(id, active))?.scrollIntoView({ block: 'nearest' });
  }, [id, active]);
  const starts = groups.map((_, i) =>
    groups.slice(0, i).reduce((sum, { entries }) => sum + entries.length, 0),
  );
  const count = groups.reduce((sum, { entries }) => sum + entries.length, 0);
  const optionProps = (at: number) => ({
    id: optionId(id, at),
    role: 'option',
    'aria-selected': at === active,
    tabIndex: -1,
    className: classes.option,
    onClick: close,
  });
  return (
    <div id={id} role="listbox" aria-label="Results" className={classes.options} data-stale={isStale}>
      {groups.map(({ label, more, entries }, g) => (
        // biome-ignore lint/a11y/useSemanticElements: a listbox must not contain a fieldset
        <div key={label} role="group" aria-label={label}>
          <div className={classes.group} aria-hidden>
            {label}
            {more && <span>the first {entries.length}</span>}
          </div>
          {entries.map((entry, i) => (
            <Link key={entry.href} href={entry.href} {...optionProps((starts[g] ?? 0) + i)}>
              <Option entry={entry} />
            </Link>
          ))}
        </div>
      ))}
      {count > 0 && text !== '' && (
        <Link href={pageOfAll} {...optionProps(count)}>
          <span className={classes.all}>See all results for “{text}”</span>
        </Link>
      )}
    </div>
  );
}

function Option({ entry: { title, detail, status, figure } }: { entry: SearchEntry }) {
  return (
    <>
      <span className={classes.lines}>
        <span className={classes.title}>{title}</span>
        {detail && <span className={classes.detail}>{detail}</span>}
      </span>
      <span className={classes.figure}>{figure}</span>
      {status && <StatusBadge status={status} />}
    </>
  );
}

/** Returns the element id of an option. The search field refers to the selected option by this id. */
export function optionId(listId: string, at: number): string {
  return `${listId}-${at}`;
}

type Searched = Answered<SearchAnswer>;

/** Shows the status message of the search. If there are results, only screen readers receive the message. */
export function SearchMessage({ text, searched }: { text: string; searched: Searched | null }) {
  const count = (searched?.answer?.groups ?? []).reduce((sum, { entries }) => sum + entries.length, 0);
  const isHidden = text !== '' && count > 0;
  return (
    <div className={isHidden ? classes.unseen : classes.message}>
      <span role="status">{messageOf(text, searched, count)}</span>
      {text !== '' && searched?.state === 'signed-out' && <SignInLink />}
    </div>
  );
}

function messageOf(text: string, searched: Searched | null, count: number): string {
  if (text === '') return 'Type a name, a number, an amount, a reference or a Stripe ID.';
  if (searched === null) return 'Searching…';
  if (searched.state === 'signed-out') return 'You are no longer signed in. ';
  if (searched.state === 'failed') return 'The search is not available right now. Try again in a moment.';
  if (searched.text !== text && count === 0) return 'Searching…';
  if (count === 0) return `Nothing found for “${text}”. Searched: ${SEARCHED}`;
  return `${count} ${count === 1 ? 'result' : 'results'}. Choose with the arrow keys.`;
}

function SignInLink() {
  const pathname = usePathname();
  return <a href={`/sign-in?next=${encodeURIComponent(pathname)}`}>Sign in again</a>;
}

const ACTIONS = [
  { href: '/admin/customers/new', label: 'New customer' },
  { href: '/admin/invoices/new', label: 'New invoice' },
  { href: '/admin/payments/new', label: 'Record payment' },
  { href: '/admin/services/new', label: 'New service' },
  { href: '/admin/sales-documents/new', label: 'New sales document' },
  { href: '/admin/servers/new', label: 'New server' },
  { href: '/admin/invoices?status=overdue', label: 'Overdue invoices' },
  { href: '/admin/subscriptions?status=past_due', label: 'Past-due subscriptions' },
  { href: '/admin/servers?status=maintenance', label: 'Servers in maintenance' },
  { href: '/admin/webhooks?outcome=failed', label: 'Failed events' },
];

const FOR_ADMINS = [
  { href: '/admin/tokens/new', label: 'Issue access token' },
  { href: '/admin/staff/new', label: 'Add person' },
];

/** Maximum number of pages and actions among the results, so that they do not crowd out the records. */
const MAX_ENTRIES = 12;

/** Returns the pages and actions whose names contain all words of a text. Without a text, returns the actions. */
export function pageEntries(text: string, isAdmin: boolean): SearchAnswer['groups'] {
  const actions = isAdmin ? [...ACTIONS, ...FOR_ADMINS] : ACTIONS;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const all =
    words.length === 0 ? actions : [...actions, ...navigationFor(isAdmin).flatMap(({ entries }) => entries)];
  const entries = all
    .filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
    .slice(0, MAX_ENTRIES)
    .map(({ href, label }) => ({ href, title: label, detail: '', status: null, figure: null }));
  return entries.length > 0 ? [{ label: 'Pages and actions', more: false, entries }] : [];
}
