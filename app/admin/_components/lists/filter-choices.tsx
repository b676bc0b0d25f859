import Link from 'next/link';
import classes from './filter-bar.module.css';
import type { FilterField } from './filter-field';

interface Props {
  field: FilterField;
  values: Record<string, string>;
  to(changes: Record<string, string | null>): string;
}

/** The values that are chosen at once. */
export function FilterChoices({ field, values, to }: Props) {
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
            prefetch={false}
            aria-current={Object.entries(changes).every(([name, value]) => values[name] === value)}
          >
            {label}
          </Link>
        </li>
      ))}
    </ul>
  );
}
