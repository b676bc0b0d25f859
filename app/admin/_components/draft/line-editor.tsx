'use client';

import { Button, Fieldset, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { lineTotals } from '@/lib/invoices/line-totals';
import { type TypedLine, toDecimal } from '@/lib/invoices/typed-draft';
import { formatMoney } from '../../../_components/format';
import { TotalList } from './total-list';

interface Props {
  initial: TypedLine[];
  /** By the names of the fields: `lines.0.text`. */
  problems: Record<string, string>;
  /** As it was typed. */
  currency: string;
}

const NEW = { text: '', quantity: '1', unit_price: '' };
const FIELDS = [
  { name: 'text', label: 'Text', flex: '1 1 16rem', maxLength: 500 },
  { name: 'quantity', label: 'Quantity', flex: '1 1 5rem', inputMode: 'decimal' },
  { name: 'unit_price', label: 'Price without tax', flex: '1 1 8rem', inputMode: 'decimal' },
  { name: 'tax_rate', label: 'Tax in %', flex: '1 1 5rem', inputMode: 'decimal' },
] as const;

/** Lines, and what they come to while they are typed; the server reckons again. */
export function LineEditor({ initial, problems, currency }: Props) {
  const [lines, setLines] = useState(initial.map((line, key) => ({ key, line })));
  const nextKey = useRef(initial.length);
  const add = useRef<HTMLButtonElement>(null);
  const code = /^[a-z]{3}$/i.test(currency) ? currency.toLowerCase() : 'eur';
  const totals = lineTotals(
    lines.map(({ line }) => toAmounts(line)),
    code,
  );

  const change = (key: number, changes: Partial<TypedLine>) =>
    setLines((all) => all.map((one) => (one.key === key ? { key, line: { ...one.line, ...changes } } : one)));
  const append = () => {
    const tax_rate = lines.at(-1)?.line.tax_rate ?? '19';
    setLines([...lines, { key: nextKey.current++, line: { ...NEW, tax_rate } }]);
  };
  const remove = (key: number) => {
    setLines(lines.filter((one) => one.key !== key));
    add.current?.focus();
  };
  return (
    <Stack gap="md">
      {lines.map(({ key, line }, i) => (
        <Fieldset key={key} legend={`Line ${i + 1}`} radius="md">
          <Group align="flex-start" gap="sm">
            {FIELDS.map(({ name, flex, ...field }) => (
              <TextInput
                key={name}
                {...field}
                flex={flex}
                name={`lines.${i}.${name}`}
                value={line[name]}
                error={problems[`lines.${i}.${name}`]}
                onChange={(event) => change(key, { [name]: event.currentTarget.value })}
                autoComplete="off"
              />
            ))}
          </Group>
          <Group justify="space-between" mt="xs">
            <Text size="sm" c="dimmed">
              Net: {formatMoney(Number(totals.nets[i]), code)}
            </Text>
            {lines.length > 1 && (
              <Button variant="subtle" size="compact-sm" onClick={() => remove(key)}>
                Remove line {i + 1}
              </Button>
            )}
          </Group>
        </Fieldset>
      ))}
      <Button
        ref={add}
        variant="default"
        w="fit-content"
        onClick={append}
        leftSection={<IconPlus size={16} aria-hidden />}
      >
        Add line
      </Button>
      <TotalList totals={totals} currency={code} />
    </Stack>
  );
}

/** What is no number yet counts as none. */
const toAmounts = ({ quantity, unit_price, tax_rate }: TypedLine) => ({
  quantity: toDecimal(quantity) ?? '0',
  unit_price: toDecimal(unit_price) ?? '0',
  tax_rate: toDecimal(tax_rate) ?? '0',
});
