'use client';

import Link from 'next/link';
import { useEffect, useRef } from 'react';
import { withParams } from '../../../_components/with-params';
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
  useEffect(() => {
    const close = (except: EventTarget | null) => {
      for (const one of bar.current?.querySelectorAll('details[open]') ?? []) {
        if (!(except instanceof Node && one.contains(except))) one.removeAttribute('open');
      }
    };
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      bar.current?.querySelector<HTMLElement>('details[open] > summary')?.focus();
      close(null);
    };
    const point = (event: PointerEvent) => close(event.target);
    document.addEventListener('keydown', press);
    document.addEventListener('pointerdown', point);
    return () => {
      document.removeEventListener('keydown', press);
      document.removeEventListener('pointerdown', point);
    };
  }, []);
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
