import { Group } from '@mantine/core';
import { TextLink } from '../../_components/links';

interface Props {
  label: string;
  current: string;
  options: { value: string; text: string; href: string }[];
}

/** A few views of the same, one of them shown. */
export function Choice({ label, current, options }: Props) {
  return (
    <Group gap={10} component="nav" aria-label={label}>
      {options.map(({ value, text, href }) => (
        <TextLink
          key={value}
          href={href}
          aria-current={value === current}
          {...(value === current ? { fw: 600, c: 'inherit' } : { fw: 400 })}
        >
          {text}
        </TextLink>
      ))}
    </Group>
  );
}
