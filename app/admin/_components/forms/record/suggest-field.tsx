'use client';

import { Autocomplete, type AutocompleteProps, Text } from '@mantine/core';
import { useState } from 'react';

export interface Suggestion {
  /** The text that choosing it puts into the field. */
  value: string;
  /** A second text to know it by and to search for. */
  about?: string | undefined;
}

interface Props extends Omit<AutocompleteProps, 'data' | 'filter' | 'renderOption'> {
  suggestions: Suggestion[];
  /** The suggestions fit the typed text already. */
  isFiltered?: boolean;
}

/**
 * A text field that suggests its values. The text itself is sent, so that the field also works without scripts, and
 * the server never sees another value than the one that is shown.
 */
export function SuggestField({ suggestions, isFiltered = false, ...input }: Props) {
  // Hundreds of options are drawn only for those who use them.
  const [isUsed, setUsed] = useState(false);
  const abouts = new Map(suggestions.map(({ value, about }) => [value, about]));
  return (
    <Autocomplete
      {...input}
      onFocus={() => setUsed(true)}
      data={isUsed ? suggestions.map(({ value }) => value) : []}
      filter={({ options, search }) =>
        isFiltered
          ? options
          : options.filter(
              (option) => 'value' in option && isMeant(option.value, abouts.get(option.value), search),
            )
      }
      renderOption={({ option: { value } }) => (
        <span>
          {value}
          {abouts.get(value) && (
            <Text span inherit c="dimmed">
              {` · ${abouts.get(value)}`}
            </Text>
          )}
        </span>
      )}
      maxDropdownHeight={280}
    />
  );
}

function isMeant(value: string, about: string | undefined, search: string): boolean {
  const text = search.trim().toLowerCase();
  return `${value} ${about ?? ''}`.toLowerCase().includes(text);
}
