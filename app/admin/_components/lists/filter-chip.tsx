'use client';

import { Text, TextInput } from '@mantine/core';
import { IconChevronDown, IconX } from '@tabler/icons-react';
import Link from 'next/link';
import { formatMessage } from '@/app/_components/format';
import { withParams } from '../../../_components/with-params';
import classes from './filter-bar.module.css';
import { FilterChoices } from './filter-choices';
import { type FilterField, namesOf } from './filter-field';
import { FilterForm } from './filter-form';
import { filterText } from './filter-text';

interface Props {
  path: string;
  field: FilterField;
  values: Record<string, string>;
  problems: Record<string, string>;
}

/** One filter: what it is set to, a way to set it, and one to take it away. */
export function FilterChip({ path, field, values, problems }: Props) {
  const names = namesOf(field);
  const text = filterText(field, values);
  const isWrong = names.some((name) => problems[name]);
  const to = (changes: Record<string, string | null>) =>
    withParams(path, new URLSearchParams(values), changes);
  return (
    <div className={classes.chip} data-set={text !== null}>
      <details name="filter" open={isWrong || undefined}>
        <summary className={classes.summary}>
          {field.label}
          {text === null ? (
            <IconChevronDown size={14} stroke={1.8} aria-hidden />
          ) : (
            <span className={classes.value}>{text}</span>
          )}
        </summary>
        <div className={classes.panel}>
          {'options' in field && isWrong && (
            <Text size="xs" c="error" role="alert">
              {formatMessage(problems[field.name] ?? '')}
            </Text>
          )}
          <FilterChoices field={field} values={values} to={to} />
          {!('options' in field) && (
            <FilterForm path={path} values={values} names={names}>
              {names.map((name) => (
                <TextInput
                  key={name}
                  name={name}
                  label={labelOf(field, name)}
                  size="sm"
                  defaultValue={takes(field, values[name] ?? '')}
                  error={problems[name] && formatMessage(problems[name])}
                  {...('presets' in field ? { type: 'date' } : { placeholder: field.placeholder })}
                />
              ))}
            </FilterForm>
          )}
        </div>
      </details>
      {text !== null && (
        <Link
          href={to(Object.fromEntries(names.map((name) => [name, null])))}
          className={classes.remove}
          aria-label={`Remove filter ${field.label}`}
          prefetch={false}
        >
          <IconX size={14} stroke={1.8} aria-hidden />
        </Link>
      )}
    </div>
  );
}

function labelOf(field: FilterField, name: string): string {
  if (!('presets' in field)) return field.label;
  return name === 'from' ? 'From' : 'To';
}

/** A field for dates shows no other text, and complains of it. */
function takes(field: FilterField, value: string): string {
  return 'presets' in field && !/^\d{4}-\d\d-\d\d$/.test(value) ? '' : value;
}
