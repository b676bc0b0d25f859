'use client';

import Link from 'next/link';
import { useRef } from 'react';
import { withParams } from '../../../_components/with-params';
import { useOpenDetails } from '../page/use-open-details';
import classes from './filter-bar.module.css';
import { FilterChip } from './filter-chip';
import { type FilterField, isFiltered, namesOf } from './filter-field';

interface Props {
  /** What the filters are called, for readers. */
  label: string;
  path: string;
  fields: FilterField[];
  values: Record<string, string>;
  problems: Record<string, string>;
}

/** A chip for each filter, which opens to what it can be set to. Without scripts each is a plain GET form. */
export function FilterBar({ label, path, fields, values, problems }: Props) {
  const bar = useRef<HTMLElement>(null);
  useOpenDetails(bar);
  const params = new URLSearchParams(values);
  return (
    <search ref={bar} aria-label={label} className={classes.bar}>
      {fields.map((field) => (
        <FilterChip key={field.name} {...{ path, field, values, problems }} />
      ))}
      {isFiltered(fields, params) && (
        <Link
          href={withParams(
            path,
            params,
            Object.fromEntries(fields.flatMap(namesOf).map((name) => [name, null])),
          )}
          className={classes.clear}
          prefetch={false}
        >
          Clear
        </Link>
      )}
    </search>
  );
}
