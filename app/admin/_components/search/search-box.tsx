'use client';

import { IconSearch } from '@tabler/icons-react';
import { useRouter } from 'next/navigation';
import { type KeyboardEvent, useId, useState } from 'react';
import { mayLeave } from '../page/unsaved-forms';
import { useAnswer } from '../page/use-answer';
import { pageEntries } from './page-entries';
import classes from './search.module.css';
import { SearchMessage } from './search-message';
import { optionId, SearchOptions } from './search-options';
import type { SearchAnswer } from './to-entry';

const NOTHING: SearchAnswer = { groups: [] };

/** A field whose results are chosen from with the arrow keys, as the ARIA practices' combobox has it. */
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
  const hrefs = [...groups.flatMap(({ entries }) => entries.map(({ href }) => href)), pageOfAll];
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
      // If the answer is still missing, the search page gives it, and opens a record that the text names exactly.
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
          // biome-ignore lint/a11y/noAutofocus: the dialog is this field
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
