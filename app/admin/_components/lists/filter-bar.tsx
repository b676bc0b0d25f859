'use client';

import { Button, Stack, Text, TextInput } from '@mantine/core';
import { IconChevronDown, IconX } from '@tabler/icons-react';
import { useRouter } from 'next/navigation';
import { type FormEvent, type ReactNode, useRef, useTransition } from 'react';
import { formatDate, formatMessage } from '@/app/_components/format';
import { Link } from '@/app/_components/links';
import { withParams } from '@/app/_components/with-params';
import { useOpenDetails } from '../page/page-actions';
import classes from './filter-bar.module.css';
import { type FilterField, isFiltered, namesOf } from './list-declaration';

interface Props {
  /** Name of the filters for screen readers. */
  label: string;
  path: string;
  fields: FilterField[];
  values: Record<string, string>;
  problems: Record<string, string>;
}

/** Shows a chip for each filter. A chip opens links, a GET form or both, which work without JavaScript. */
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
        <Link href={withParams(path, params, without(fields.flatMap(namesOf)))} className={classes.clear}>
          Clear
        </Link>
      )}
    </search>
  );
}

/** Returns changes for `withParams` that remove the given parameters. */
const without = (names: string[]) => Object.fromEntries(names.map((name) => [name, null]));

interface FilterChipProps extends Pick<Props, 'path' | 'values' | 'problems'> {
  field: FilterField;
}

/** Shows a filter with its current value, links or a form to set the value, and a link that clears a set filter. */
function FilterChip({ path, field, values, problems }: FilterChipProps) {
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
                  label={'presets' in field ? { from: 'From', to: 'To' }[name] : field.label}
                  size="sm"
                  defaultValue={
                    // A browser's date field cannot show text that is not a date, and logs a warning.
                    'presets' in field && !isDate(values[name]) ? '' : (values[name] ?? '')
                  }
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
          href={to(without(names))}
          className={classes.remove}
          aria-label={`Remove filter ${field.label}`}
        >
          <IconX size={14} stroke={1.8} aria-hidden />
        </Link>
      )}
    </div>
  );
}

interface FilterChoicesProps extends Pick<FilterChipProps, 'field' | 'values'> {
  to(changes: Record<string, string | null>): string;
}

/** Shows links that set the filter to an option or a preset range with one click. */
function FilterChoices({ field, values, to }: FilterChoicesProps) {
  const choices =
    'presets' in field
      ? field.presets.map(({ label, from, to: until }) => ({ label, changes: { from, to: until } }))
      : 'options' in field
        ? field.options.map(({ value, label }) => ({ label, changes: { [field.name]: value } }))
        : [];
  if (choices.length === 0) return null;
  return (
    <ul className={classes.choices}>
      {choices.map(({ label, changes }) => (
        <li key={label}>
          <Link
            href={to(changes)}
            aria-current={Object.entries(changes).every(([name, value]) => values[name] === value)}
          >
            {label}
          </Link>
        </li>
      ))}
    </ul>
  );
}

interface FilterFormProps extends Pick<Props, 'path' | 'values'> {
  names: string[];
  children: ReactNode;
}

/** Shows a form that keeps the other filters. If JavaScript runs, the new URL contains only the filled-in fields. */
function FilterForm({ path, values, names, children }: FilterFormProps) {
  const router = useRouter();
  const [pending, start] = useTransition();
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const params = new URLSearchParams();
    for (const [name, value] of new FormData(event.currentTarget)) {
      if (typeof value === 'string' && value.trim() !== '') params.set(name, value.trim());
    }
    start(() => router.push(params.size > 0 ? `${path}?${params}` : path));
  }
  return (
    <form action={path} method="get" onSubmit={submit}>
      {Object.entries(values)
        .filter(([name]) => !names.includes(name))
        .map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
      <Stack gap="xs">
        {children}
        <Button type="submit" size="xs" loading={pending}>
          Apply
        </Button>
      </Stack>
    </form>
  );
}

/** Returns a filter's value as the text of its chip. Returns null if the filter is not set. */
function filterText(field: FilterField, values: Record<string, string>): string | null {
  const { [field.name]: value, from, to } = values;
  if (!('presets' in field)) {
    const options = 'options' in field ? field.options : [];
    return options.find((option) => option.value === value)?.label ?? (value || null);
  }
  if (!from && !to) return null;
  const preset = field.presets.find((one) => one.from === from && one.to === to);
  if (preset) return preset.label;
  if (!from) return `to ${dateText(to)}`;
  return to ? `${dateText(from)} – ${dateText(to)}` : `from ${dateText(from)}`;
}

const isDate = (text = '') => /^\d{4}-\d\d-\d\d$/.test(text);
const dateText = (date = '') => (isDate(date) ? formatDate(date) : date);
